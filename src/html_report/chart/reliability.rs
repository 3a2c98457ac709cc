//! A chart of how often choices are right, by their confidence.

use super::canvas::{Area, DrawResult, Figure, INK, LETTERS, LINE, Numbers, SERIES, SOFT, figure, percent, text};
use crate::error::Result;
use crate::metrics::ConfidenceBin;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

const HEIGHT: u32 = 230;

/// Draws a dot for each bin, with its 95 % interval and the number of its pairs. On the diagonal the confidence is
/// calibrated.
pub fn reliability_chart(title: &str, about: &str, bins: &[ConfidenceBin]) -> Result<Figure> {
    let cells = |bin: &ConfidenceBin| {
        let [low, high] = bin.right.percent_interval().map_or([None; 2], |interval| interval.map(Some));
        let shares = [Some(100. * bin.confidence), bin.right.percent(), low, high].map(percent);
        [shares.to_vec(), vec![bin.right.total.to_string()]].concat()
    };
    let filled = bins.iter().filter(|bin| bin.right.total > 0);
    let numbers =
        Numbers::new(&["confidence (%)", "right (%)", "interval from", "interval to", "pairs"], filled.map(cells));
    figure(title, about, HEIGHT, numbers, |area| draw(area, bins))
}

fn draw(area: &Area, bins: &[ConfidenceBin]) -> DrawResult {
    let mut chart = ChartBuilder::on(area)
        .margin_top(22)
        .margin_right(24)
        .x_label_area_size(24)
        .y_label_area_size(40)
        .build_cartesian_2d(48.0..102.0, 0.0..100.0)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(6)
        .y_labels(5)
        .max_light_lines(0)
        .bold_line_style(LINE)
        .axis_style(LINE)
        .label_style(("sans-serif", LETTERS).into_text_style(area).color(&SOFT))
        .x_label_formatter(&|percent| format!("{percent:.0} %"))
        .y_label_formatter(&|percent| format!("{percent:.0}"))
        .draw()?;
    chart.draw_series(DashedLineSeries::new([(50., 50.), (100., 100.)], 4, 4, SERIES[5].stroke_width(2)))?;
    for bin in bins {
        let (Some(percent), Some([low, high])) = (bin.right.percent(), bin.right.percent_interval()) else { continue };
        let x = 100. * bin.confidence;
        chart.draw_series([PathElement::new([(x, low), (x, high)], SERIES[0].mix(0.45).stroke_width(2))])?;
        chart.draw_series([Circle::new((x, percent), 4, SERIES[0].filled())])?;
        let (x, y) = chart.backend_coord(&(x, percent));
        text(area, &bin.right.total.to_string(), (x, y - 12), INK, HPos::Center)?;
    }
    Ok(())
}
