//! Losses and tiers by epoch (TRIP, figure 4).

use super::chart::{Curve, Figure, Scale, colour, curve_chart};
use super::names::letter;
use super::read::ReportedRun;
use crate::error::Result;
use crate::loss::LossValues;
use crate::metrics::Share;
use crate::train::{DevRecord, EpochRecord};

const LOSSES: [(&str, &str, &str); 5] = [
    ("preconditions", "Preconditions", "cross-entropy of the states before a sentence"),
    ("effects", "Effects", "cross-entropy of the states after a sentence"),
    ("conflicts", "Conflict", "which sentences conflict"),
    ("story", "Story choice", "which story is plausible"),
    ("single_story", "Single story", "whether a single story has a conflict"),
];

type Tier = (&'static str, fn(&DevRecord) -> Share);

const TIERS: [Tier; 3] = [
    ("Accuracy", |dev| dev.calibrated.accuracy()),
    ("Consistency", |dev| dev.calibrated.consistency()),
    ("Verifiability", |dev| dev.calibrated.verifiability()),
];

/// One chart for each loss, then one for each tier. Charts without values are left out.
pub fn curves(runs: &[ReportedRun]) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (key, title, about) in LOSSES {
        let curves: Vec<_> = runs.iter().enumerate().flat_map(|(r, run)| losses(runs.len(), r, run, key)).collect();
        figures.extend(figure(title, &format!("{title} loss: {about}, by epoch"), &curves, Scale::Fitted)?);
    }
    for (title, share) in TIERS {
        let of_run = |(r, run): (usize, &ReportedRun)| Curve {
            label: if runs.len() > 1 { format!("{} dev", letter(r)) } else { "dev".to_owned() },
            name: if runs.len() > 1 { letter(r) } else { "dev".to_owned() },
            colour: if runs.len() > 1 { colour(r) } else { 1 },
            is_dashed: false,
            points: points(run, |epoch| share(epoch.dev.as_ref()?).percent()),
            marked: best(run),
        };
        let curves: Vec<_> = runs.iter().enumerate().map(of_run).collect();
        figures.extend(figure(title, &format!("{title} on dev by epoch, percent of pairs"), &curves, Scale::Percent)?);
    }
    Ok(figures)
}

/// The train curve (dashed) and the dev curve (solid). With several runs they have the colour of their run.
fn losses(runs: usize, r: usize, run: &ReportedRun, key: &str) -> [Curve; 2] {
    let value = |losses: &LossValues| losses.named().into_iter().find(|(name, _)| *name == key).map(|(_, loss)| loss);
    let [train, dev] = if runs > 1 { [colour(r); 2] } else { [0, 1] };
    let label = |set: &str| if runs > 1 { format!("{} {set}", letter(r)) } else { set.to_owned() };
    [
        Curve {
            label: label("train"),
            name: if runs > 1 { String::new() } else { "train".to_owned() },
            colour: train,
            is_dashed: true,
            points: points(run, |epoch| value(&epoch.train)),
            marked: None,
        },
        Curve {
            label: label("dev"),
            name: if runs > 1 { letter(r) } else { "dev".to_owned() },
            colour: dev,
            is_dashed: false,
            points: points(run, |epoch| value(&epoch.dev.as_ref()?.losses)),
            marked: best(run),
        },
    ]
}

fn best(run: &ReportedRun) -> Option<f64> {
    run.best_epoch.map(|epoch| epoch as f64)
}

fn points(run: &ReportedRun, value: impl Fn(&EpochRecord) -> Option<f64>) -> Vec<(f64, f64)> {
    let point = |epoch: &EpochRecord| Some((epoch.epoch as f64, value(epoch).filter(|value| value.is_finite())?));
    run.epochs.iter().filter_map(point).collect()
}

fn figure(title: &str, about: &str, curves: &[Curve], scale: Scale) -> Result<Option<Figure>> {
    if curves.iter().all(|curve| curve.points.is_empty()) {
        return Ok(None);
    }
    curve_chart(title, about, curves, scale).map(Some)
}
