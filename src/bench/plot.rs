//! A plot of the seconds of a step by its tokens.

use super::report::BenchReport;
use crate::error::{Error, ErrorKind, Result};
use plotters::prelude::*;

const SIZE: (u32, u32) = (800, 500);

/// Draws every measured step, with one colour per size, and the line through all, as SVG.
///
/// # Errors
/// `Internal`.
pub fn draw(report: &BenchReport) -> Result<String> {
    let mut svg = String::new();
    picture(report, &mut svg)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("the plot can't be drawn: {error}")))?;
    Ok(svg)
}

fn picture(report: &BenchReport, svg: &mut String) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let points = || report.sizes.iter().flat_map(|size| size.points.iter());
    let limit = |of: fn(&(f64, f64)) -> f64| 1.05 * points().map(of).fold(f64::MIN_POSITIVE, f64::max);
    let (most_tokens, most_seconds) = (limit(|p| p.0), limit(|p| p.1));
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .caption(caption(report), ("sans-serif", 18))
        .x_label_area_size(44)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..most_tokens, 0.0..most_seconds)?;
    chart
        .configure_mesh()
        .x_desc("unique tokens of a step")
        .y_desc("seconds of a training step")
        .x_label_formatter(&|tokens| format!("{tokens:.0}"))
        .light_line_style(WHITE)
        .label_style(("sans-serif", 13))
        .draw()?;
    if let Some(line) = report.cost {
        let ends = [0., most_tokens].map(|tokens| (tokens, line.at(tokens)));
        chart.draw_series(LineSeries::new(ends, BLACK.mix(0.5)))?;
    }
    for (i, size) in report.sizes.iter().enumerate() {
        let colour = Palette99::pick(i).to_rgba();
        let dots = size.points.iter().map(|&point| Circle::new(point, 4, colour.filled()));
        chart.draw_series(dots)?.label(size.name()).legend(move |(x, y)| Circle::new((x + 10, y), 4, colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .label_font(("sans-serif", 13))
        .background_style(WHITE)
        .draw()?;
    root.present()?;
    Ok(())
}

fn caption(report: &BenchReport) -> String {
    match &report.cost {
        Some(line) => format!(
            "{:.1} ms + {:.1} ms per 1000 unique tokens, R² {:.4}",
            1e3 * line.intercept,
            1e6 * line.slope,
            line.r_squared
        ),
        None => "too few steps for a line".to_owned(),
    }
}
