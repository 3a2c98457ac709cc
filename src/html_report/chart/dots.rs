//! A chart with two shares per row, as dots on one scale.

use super::canvas::{Area, DrawResult, Figure, INK, LINE, Numbers, SERIES, SOFT, WIDTH, figure, line, percent, text};
use crate::error::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

pub struct DotRow {
    pub label: String,
    /// Between 0 and 1; `None` if undefined.
    pub values: [Option<f64>; 2],
    /// The text at the end of the row.
    pub note: String,
}

const ROW: i32 = 20;
const HEAD: i32 = 34;
const LABELS: i32 = 92;
const NOTES: i32 = 44;

/// Draws a dot chart. The first value is a full dot and the second a ring. A legend above names them.
pub fn dot_chart(title: &str, about: &str, names: [&str; 2], rows: &[DotRow]) -> Result<Figure> {
    let height = HEAD + ROW * rows.len() as i32 + ROW;
    let [first, second] = names;
    let cells = |row: &DotRow| {
        let [first, second] = row.values.map(|share| percent(share.map(|share| 100. * share)));
        vec![row.label.clone(), first, second, row.note.clone()]
    };
    let numbers = Numbers::new(&["attribute", first, second, "gold states"], rows.iter().map(cells));
    figure(title, about, height as u32, numbers, |area| if rows.is_empty() { Ok(()) } else { draw(area, names, rows) })
}

fn draw(area: &Area, names: [&str; 2], rows: &[DotRow]) -> DrawResult {
    let width = WIDTH as i32 - LABELS - NOTES;
    let at = |value: f64| LABELS + (value * f64::from(width)).round() as i32;
    let bottom = HEAD + ROW * rows.len() as i32;
    full(area, (LABELS + 4, 10))?;
    text(area, names[0], (LABELS + 14, 10), INK, HPos::Left)?;
    ring(area, (LABELS + 94, 10))?;
    text(area, names[1], (LABELS + 104, 10), INK, HPos::Left)?;
    text(area, "gold", (WIDTH as i32 - 2, 10), SOFT, HPos::Right)?;
    for percent in [0, 25, 50, 75, 100] {
        let x = at(f64::from(percent) / 100.);
        line(area, (x, HEAD - 6), (x, bottom), LINE)?;
        text(area, &percent.to_string(), (x, bottom + 10), SOFT, HPos::Center)?;
    }
    for (r, row) in rows.iter().enumerate() {
        let y = HEAD + ROW * r as i32 + ROW / 2;
        text(area, &row.label, (0, y), INK, HPos::Left)?;
        text(area, &row.note, (WIDTH as i32 - 2, y), SOFT, HPos::Right)?;
        if let [Some(a), Some(b)] = row.values {
            area.draw(&PathElement::new([(at(a), y), (at(b), y)], SERIES[5].stroke_width(2)))?;
        }
        let [first, second] = row.values.map(|value| value.map(|value| (at(value), y)));
        second.map_or(Ok(()), |position| ring(area, position))?;
        first.map_or(Ok(()), |position| full(area, position))?;
    }
    Ok(())
}

fn full(area: &Area, at: (i32, i32)) -> DrawResult {
    Ok(area.draw(&Circle::new(at, 4, SERIES[0].filled()))?)
}

fn ring(area: &Area, at: (i32, i32)) -> DrawResult {
    Ok(area.draw(&Circle::new(at, 5, SERIES[1].stroke_width(2)))?)
}
