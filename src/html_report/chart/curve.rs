//! A chart of lines over epochs, each with its name at its end.

use super::canvas::{Area, DrawResult, Figure, INK, LETTERS, LINE, Numbers, SERIES, SOFT, figure, text};
use crate::error::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

pub struct Curve {
    /// Its name in the table of numbers: "A train".
    pub label: String,
    /// A short name at its end; none if empty.
    pub name: String,
    pub colour: usize,
    pub is_dashed: bool,
    /// (epoch, value)
    pub points: Vec<(f64, f64)>,
    /// The epoch that is marked by a ring.
    pub marked: Option<f64>,
}

/// The range of the vertical axis.
#[derive(Clone, Copy, PartialEq)]
pub enum Scale {
    /// From the smallest to the largest value.
    Fitted,
    /// 0 to 100.
    Percent,
}

const HEIGHT: u32 = 210;
const RIGHT: i32 = 42;
/// Pixels between names.
const APART: i32 = 15;

pub fn curve_chart(title: &str, about: &str, curves: &[Curve], scale: Scale) -> Result<Figure> {
    let cells = |curve: &Curve, (epoch, value): (f64, f64)| {
        let mark = if curve.marked == Some(epoch) { "best" } else { "" };
        vec![curve.label.clone(), epoch.to_string(), format!("{value:.6}"), mark.to_owned()]
    };
    let rows = curves.iter().flat_map(|curve| curve.points.iter().map(move |&point| cells(curve, point)));
    let numbers = Numbers::new(&["curve", "epoch", "value", "best epoch"], rows);
    figure(title, about, HEIGHT, numbers, |area| draw(area, curves, scale))
}

/// The ranges of epochs and of values.
fn axes(curves: &[Curve], scale: Scale) -> [(f64, f64); 2] {
    let points = || curves.iter().flat_map(|curve| &curve.points).copied();
    let bounds = |of: fn((f64, f64)) -> f64| {
        points()
            .map(of)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (first, last) = bounds(|p| p.0);
    let epochs = if last > first { (first, last) } else { (first - 0.5, last + 0.5) };
    let values = match scale {
        Scale::Percent => (0., 100.),
        Scale::Fitted => {
            let (low, high) = bounds(|p| p.1);
            let margin = (0.06 * (high - low)).max(1e-3 * high.abs()).max(1e-6);
            ((low - margin).max(0.), high + margin)
        }
    };
    [epochs, values]
}

fn draw(area: &Area, curves: &[Curve], scale: Scale) -> DrawResult {
    let [(first, last), (low, high)] = axes(curves, scale);
    let mut chart = ChartBuilder::on(area)
        .margin_top(10)
        .margin_right(RIGHT)
        .x_label_area_size(24)
        .y_label_area_size(40)
        .build_cartesian_2d(first..last, low..high)?;
    let decimals = match high - low {
        range if range < 0.6 => 2,
        range if range < 20. => 1,
        _ => 0,
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(last as usize + 1)
        .max_light_lines(0)
        .y_labels(4)
        .bold_line_style(LINE)
        .axis_style(LINE)
        .label_style(("sans-serif", LETTERS).into_text_style(area).color(&SOFT))
        .x_label_formatter(&|epoch| whole(*epoch, last))
        .y_label_formatter(&|value| format!("{value:.decimals$}"))
        .draw()?;
    for curve in curves {
        let stroke = SERIES[curve.colour].stroke_width(2);
        match curve.is_dashed {
            true => chart.draw_series(DashedLineSeries::new(curve.points.iter().copied(), 4, 4, stroke))?,
            false => chart.draw_series(LineSeries::new(curve.points.iter().copied(), stroke))?,
        };
        if let Some(&end) = curve.points.last() {
            let dot = Circle::new(end, 3, SERIES[curve.colour].filled());
            chart.draw_series([dot])?;
        }
        if let Some(&best) = curve.points.iter().find(|(epoch, _)| curve.marked == Some(*epoch)) {
            chart.draw_series([Circle::new(best, 6, SERIES[curve.colour].stroke_width(2))])?;
        }
    }
    let ends = curves.iter().filter_map(|curve| Some((chart.backend_coord(curve.points.last()?), curve)));
    names(area, ends.collect())
}

/// The label of an epoch: only whole epochs have one, and not all of them if there are many.
fn whole(epoch: f64, last: f64) -> String {
    let every = (last / 8.).ceil().max(1.);
    let is_whole = (epoch - epoch.round()).abs() < 1e-6;
    if is_whole && (epoch.round() % every == 0. || epoch == 1.) { format!("{epoch:.0}") } else { String::new() }
}

/// Writes the names beside the ends of the curves, and moves them apart if they would overlap: down, then up from the
/// lower edge.
fn names(area: &Area, mut ends: Vec<((i32, i32), &Curve)>) -> DrawResult {
    ends.retain(|(_, curve)| !curve.name.is_empty());
    ends.sort_by_key(|((_, y), _)| *y);
    let mut free = i32::MIN;
    for ((_, y), _) in &mut ends {
        *y = (*y).max(free);
        free = *y + APART;
    }
    let mut free = HEIGHT as i32 - APART / 2;
    for ((_, y), _) in ends.iter_mut().rev() {
        *y = (*y).min(free);
        free = *y - APART;
    }
    for ((x, y), curve) in ends {
        text(area, &curve.name, (x + 8, y), if curve.is_dashed { SOFT } else { INK }, HPos::Left)?;
    }
    Ok(())
}
