//! The formats of an agreement: text for the terminal, tables, JSON.

use super::{AgreementRow, AnnotatorAgreement, Disagreement};
use crate::metrics::{Coefficient, Share};
use crate::report::{INTERVALS, Table, TableFormat};
use crate::say::counted;
use crate::schema;
use std::fmt::Write;

/// How many disagreements the text lists without `all`.
const LISTED: usize = 20;

/// What is undefined.
const UNDEFINED: &str = "-";

/// What the table's columns are.
const NOTES: &str = "Units: what both annotators labelled: stories in tier 1; in tier 2 the sentences of stories that either calls implausible;
in tier 3 an attribute of an entity in a sentence. Only A, only B: what the other left out; it counts in no other column.
Nontrivial: units that either annotator calls implausible, in the conflict, or labels with more than the default.
Kappa: Cohen's. Alpha: Krippendorff's, nominal. Both are 1 where all agree and 0 where agreement is what chance would give.";

impl AnnotatorAgreement {
    /// Aligned, for the terminal: the coefficients, then the first disagreements, or `all`.
    pub fn to_text(&self, all: bool) -> String {
        let [a, b] = self.files.each_ref().map(|file| file.file.display());
        let (stories, groups) = (counted(self.stories as u64, "story"), counted(self.groups as u64, "story group"));
        let table = self.coefficients().to_text();
        let listed = if all { self.disagreements.len() } else { LISTED };
        format!(
            "A: {a}\nB: {b}\n{stories} in both, {groups}\n\n{table}\n{NOTES}\n{INTERVALS}\n\n{}",
            self.listing(listed)
        )
    }

    /// A table of the coefficients, and one of `all` disagreements.
    pub fn in_tables(&self, format: TableFormat, all: bool) -> String {
        let disagreements = all.then(|| format!("\n{}", format(&self.table_of_disagreements())));
        format(&self.coefficients()) + &disagreements.unwrap_or_default()
    }

    /// Everything, with two spaces of indentation.
    pub fn to_json(&self) -> String {
        schema::document(self)
    }

    fn coefficients(&self) -> Table {
        let intervals = ["kappa [95 % interval]", "alpha [95 % interval]"];
        let counts = ["tier", "units", "only A", "only B", "agreement (%)", "on nontrivial (%)"];
        let mut table = Table::new(counts.into_iter().chain(intervals));
        for row in &self.rows {
            let of = &row.agreement;
            let [only_a, only_b] = of.only.map(|units| units.to_string());
            let coefficients = [of.kappa, of.alpha].map(coefficient);
            let same = [percent(of.agreed), of_total(of.agreed_nontrivial)];
            let counts = [row.name(), of.agreed.total.to_string(), only_a, only_b];
            table.push(counts.into_iter().chain(same).chain(coefficients));
        }
        table
    }

    fn table_of_disagreements(&self) -> Table {
        let of_story = ["tier", "split", "story", "sentence", "text", "entity", "attribute"];
        let mut table = Table::new(of_story.into_iter().chain(["A", "B"]));
        for it in &self.disagreements {
            let sentence = it.sentence.map(|sentence| (sentence + 1).to_string());
            let attribute = it.attribute.map(|attribute| attribute.to_string());
            let cells = [sentence, it.text.clone(), it.entity.clone(), attribute].map(Option::unwrap_or_default);
            let place = [it.tier.to_string(), it.split.clone(), it.story.clone()];
            table.push(place.into_iter().chain(cells).chain(it.says.clone()));
        }
        table
    }

    /// The first disagreements, below the sentences that they are about.
    fn listing(&self, most: usize) -> String {
        let count = self.disagreements.len();
        let mut text = format!("{}{}\n", counted(count as u64, "disagreement"), if count > 0 { ":" } else { "" });
        let shown = &self.disagreements[..count.min(most)];
        for of_place in shown.chunk_by(|one, other| one.place() == other.place()) {
            let _ = writeln!(text, "{}", of_place[0].place());
            for it in of_place {
                let [a, b] = &it.says;
                let _ = writeln!(text, "  {}A {a}, B {b}", it.subject());
            }
        }
        if count > shown.len() {
            let _ = writeln!(text, "and {} more: --verbose", count - shown.len());
        }
        text
    }
}

impl AgreementRow {
    fn name(&self) -> String {
        match (self.attribute, self.tier) {
            (Some(attribute), _) => format!("  {attribute}"),
            (None, 1) => "tier 1: plausible".into(),
            (None, 2) => "tier 2: in the conflict".into(),
            (None, _) => "tier 3: states".into(),
        }
    }
}

impl Disagreement {
    /// `SPLIT/STORY`, with the number and the words of the sentence.
    fn place(&self) -> String {
        let sentence = self.sentence.zip(self.text.as_ref());
        let sentence = sentence.map(|(sentence, text)| format!(", sentence {}: {text}", sentence + 1));
        format!("{}/{}{}", self.split, self.story, sentence.unwrap_or_default())
    }

    /// What it is about, if not the whole story or sentence.
    fn subject(&self) -> String {
        match (&self.entity, self.attribute) {
            (Some(entity), Some(attribute)) => format!("{entity}, {attribute}: "),
            (Some(entity), None) => format!("{entity}: "),
            _ => String::new(),
        }
    }
}

/// `0.81 [0.72, 0.88]`
fn coefficient(coefficient: Option<Coefficient>) -> String {
    let Some(Coefficient { value, interval_95 }) = coefficient else { return UNDEFINED.into() };
    let interval = interval_95.map(|bounds| bounds.map(decimal));
    let interval = interval.map_or(String::new(), |[low, high]| format!(" [{low}, {high}]"));
    decimal(value) + &interval
}

/// Two decimals; never "-0.00".
fn decimal(value: f64) -> String {
    let rounded = (100. * value).round() / 100.;
    format!("{:.2}", if rounded == 0. { 0. } else { rounded })
}

fn percent(share: Share) -> String {
    share.percent().map_or(UNDEFINED.into(), |percent| format!("{percent:.1}"))
}

/// `85.0 of 40`
fn of_total(share: Share) -> String {
    if share.total > 0 { format!("{} of {}", percent(share), share.total) } else { UNDEFINED.into() }
}
