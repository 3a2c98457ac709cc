//! What all charts share: size, colours, text and lines.

use crate::error::{Error, ErrorKind, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The width of a chart. It fits on a phone, so that text is not scaled down.
pub(super) const WIDTH: u32 = 360;

/// Placeholders that `page.css` replaces with the colours of the page: ink, soft ink, lines, then seven of series.
pub(super) const INK: RGBColor = RGBColor(1, 1, 1);
pub(super) const SOFT: RGBColor = RGBColor(2, 2, 2);
pub(super) const LINE: RGBColor = RGBColor(3, 3, 3);
pub(super) const SERIES: [RGBColor; 7] = [
    RGBColor(17, 17, 17),
    RGBColor(18, 18, 18),
    RGBColor(19, 19, 19),
    RGBColor(20, 20, 20),
    RGBColor(21, 21, 21),
    RGBColor(22, 22, 22),
    RGBColor(23, 23, 23),
];

/// The font size. The backend turns it into letters of 12 pixels.
pub(super) const LETTERS: f64 = 15.;

/// The numbers that a drawing shows.
pub struct Numbers {
    pub heads: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A drawing with its texts and numbers.
pub struct Figure {
    pub title: String,
    /// A description for readers who can't see the drawing.
    pub about: String,
    pub width: u32,
    pub height: u32,
    /// The contents of the `svg` element, with escaped texts.
    pub body: String,
    pub numbers: Numbers,
}

impl Figure {
    /// Whether nothing was drawn.
    pub fn is_empty(&self) -> bool {
        self.body.trim().is_empty()
    }
}

impl Numbers {
    pub(super) fn new(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Self {
        Numbers { heads: heads.iter().map(|&head| head.to_owned()).collect(), rows: rows.collect() }
    }
}

/// A percentage with one decimal, or an empty text if undefined.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or(String::new(), |share| format!("{share:.1}"))
}

/// The colours of runs: all but the pale one, which is that of what is missing.
const OF_RUNS: [usize; 6] = [0, 1, 2, 3, 4, 6];

/// The colour of the run of that number.
pub fn colour(number: usize) -> usize {
    OF_RUNS[number % OF_RUNS.len()]
}

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type DrawResult = std::result::Result<(), Box<dyn std::error::Error>>;

pub(super) fn figure(
    title: &str,
    about: &str,
    height: u32,
    numbers: Numbers,
    draw: impl FnOnce(&Area) -> DrawResult,
) -> Result<Figure> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        draw(&root).map_err(internal)?;
        root.present().map_err(internal)?;
    }
    let inner = svg.split_once('>').and_then(|(_, rest)| rest.rsplit_once("</svg>"));
    let (body, _) = inner.ok_or_else(|| internal("the backend wrote no svg element"))?;
    let (title, about, body) = (title.to_owned(), about.to_owned(), body.to_owned());
    Ok(Figure { title, about, width: WIDTH, height, body, numbers })
}

/// Draws text at a position in pixels.
pub(super) fn text(area: &Area, text: &str, at: (i32, i32), colour: RGBColor, align: HPos) -> DrawResult {
    let style = ("sans-serif", LETTERS).into_text_style(area).color(&colour).pos(Pos::new(align, VPos::Center));
    Ok(area.draw(&Text::new(text.to_owned(), at, style))?)
}

/// Draws a straight line between two positions in pixels.
pub(super) fn line(area: &Area, from: (i32, i32), to: (i32, i32), colour: RGBColor) -> DrawResult {
    Ok(area.draw(&PathElement::new([from, to], colour.stroke_width(1)))?)
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Internal, format!("a figure can't be drawn: {error}"))
}
