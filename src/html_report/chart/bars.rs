//! Horizontal bars with their numbers.

use super::canvas::{Area, DrawResult, Figure, INK, Numbers, SERIES, SOFT, WIDTH, figure, text};
use crate::error::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

pub struct Bar {
    /// One for each column.
    pub labels: Vec<String>,
    /// Lengths and colours of the parts, from left to right.
    pub parts: Vec<(f64, usize)>,
    /// The text after the bar.
    pub note: String,
}

const ROW: i32 = 22;
const THICK: i32 = 12;
/// The widths of labels and notes, in pixels.
const LABELS: i32 = 160;
const ONE_LABEL: i32 = 92;
const NOTES: i32 = 76;

/// Draws a bar chart. `heads` are the titles of the label columns; without them there is one column, of attributes.
/// `parts` names the parts of the bars.
pub fn bar_chart(title: &str, about: &str, heads: &[&str], parts: &[&str], bars: &[Bar]) -> Result<Figure> {
    let height = head(heads) + bars.len() as i32 * ROW;
    let labels: &[&str] = if heads.is_empty() { &["attribute"] } else { heads };
    let lengths = |bar: &Bar| bar.parts.iter().map(|(length, _)| length.to_string()).collect();
    let rows = bars.iter().map(|bar| [bar.labels.clone(), lengths(bar)].concat());
    let numbers = Numbers::new(&[labels, parts].concat(), rows);
    figure(title, about, height as u32, numbers, |area| if bars.is_empty() { Ok(()) } else { draw(area, heads, bars) })
}

/// Pixels above the first bar.
fn head(heads: &[&str]) -> i32 {
    if heads.is_empty() { 0 } else { ROW }
}

fn draw(area: &Area, heads: &[&str], bars: &[Bar]) -> DrawResult {
    let labels = if heads.is_empty() { ONE_LABEL } else { LABELS };
    let longest = bars.iter().map(|bar| bar.parts.iter().map(|(length, _)| length).sum::<f64>()).fold(1., f64::max);
    let scale = f64::from(WIDTH as i32 - labels - NOTES) / longest;
    let column = |i: usize| labels * i as i32 / heads.len().max(1) as i32;
    for (i, name) in heads.iter().enumerate() {
        text(area, name, (column(i), ROW / 2), SOFT, HPos::Left)?;
    }
    for (r, bar) in bars.iter().enumerate() {
        let middle = head(heads) + ROW * r as i32 + ROW / 2;
        for (i, label) in bar.labels.iter().enumerate() {
            text(area, label, (column(i), middle), INK, HPos::Left)?;
        }
        let mut x = f64::from(labels);
        for &(length, colour) in &bar.parts {
            let end = x + scale * length;
            let corners = [(x.round() as i32, middle - THICK / 2), (end.round() as i32, middle + THICK / 2)];
            if corners[1].0 > corners[0].0 {
                area.draw(&Rectangle::new(corners, SERIES[colour].filled()))?;
            }
            x = end;
        }
        text(area, &bar.note, (x.round() as i32 + 6, middle), SOFT, HPos::Left)?;
    }
    Ok(())
}
