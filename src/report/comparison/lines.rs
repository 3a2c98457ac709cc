//! CSV (RFC 4180) for programs, with one score or difference per line.

use super::{Comparison, ComparisonRow, RowDifference, Section};
use crate::metrics::{Difference, Estimate, Tiers};
use crate::report::{PublishedRow, Table};

const COLUMNS: &str = "what,set,decoding,row,minus_row,tier,fraction,sd,low,high,p_bootstrap,p_bootstrap_holm,p_mcnemar,\
                       p_mcnemar_holm,seeds,missing_seeds,of_row";

impl Comparison {
    /// The column `what` is "score", "published" or "difference". Missing values are empty; `of_row` is the row beside which a
    /// published score stands.
    pub fn to_csv(&self) -> String {
        let mut table = Table::new(COLUMNS.split(','));
        self.sections.iter().flat_map(Section::lines).for_each(|line| table.push(line));
        table.to_csv()
    }
}

impl Section {
    fn lines(&self) -> Vec<Vec<String>> {
        let scores = self.rows.iter().flat_map(|row| self.scores(row));
        let of_rows = self.rows.iter().filter_map(|row| Some((row.published.as_ref()?, row.name.as_str())));
        let of_set = self.published.iter().map(|published| (published, ""));
        let published = of_rows.chain(of_set).flat_map(|(published, row)| self.published_lines(published, row));
        let differences = self.differences.iter().flat_map(|difference| self.difference(difference));
        scores.chain(published).chain(differences).collect()
    }

    fn scores(&self, row: &ComparisonRow) -> Vec<Vec<String>> {
        let seeds = match row.seeds.len() + row.missing.len() {
            0 => Default::default(),
            _ => [row.seeds.len().to_string(), row.missing.len().to_string()],
        };
        let line = |(i, tier): (usize, &str)| {
            let numbers = row.scores.as_ref().and_then(|scores| scores.each()[i]).map(|estimate| {
                let Estimate { mean, sd, interval: [low, high] } = estimate;
                [number(*mean), sd.map_or(String::new(), number), number(*low), number(*high)]
            });
            let numbers = numbers.unwrap_or_default();
            self.line("score", &row.name, "", tier, &[&numbers[..], &[const { String::new() }; 4], &seeds].concat())
        };
        Tiers::<Estimate>::NAMES.into_iter().enumerate().map(line).collect()
    }

    fn published_lines(&self, published: &PublishedRow, of_row: &str) -> Vec<Vec<String>> {
        let scores = [published.accuracy, published.consistency, published.verifiability];
        let line = |(score, tier): (f64, &str)| {
            let mut line = self.line("published", &published.system, "", tier, &[number(score)]);
            *line.last_mut().expect("a line has columns") = of_row.to_owned();
            line
        };
        scores.into_iter().zip(Tiers::<f64>::NAMES).map(line).collect()
    }

    fn difference(&self, difference: &RowDifference) -> Vec<Vec<String>> {
        let [first, second] = &difference.names;
        let line = |(i, tier): (usize, &str)| {
            let numbers = difference.tiers.as_ref().and_then(|tiers| tiers.each()[i]).map(|difference| {
                let Difference { difference, interval, bootstrap, mcnemar } = difference;
                let [low, high] = interval.map_or([const { String::new() }; 2], |bounds| bounds.map(number));
                let p_values = [bootstrap.p, bootstrap.holm, mcnemar.p, mcnemar.holm].map(number);
                [&[number(*difference), String::new(), low, high], &p_values[..]].concat()
            });
            self.line("difference", first, second, tier, &numbers.unwrap_or_default())
        };
        Tiers::<Difference>::NAMES.into_iter().enumerate().map(line).collect()
    }

    /// A line that is filled up with empty cells.
    fn line(&self, what: &str, row: &str, minus: &str, tier: &str, numbers: &[String]) -> Vec<String> {
        let words = [what, &self.set, &self.decoding, row, minus, tier].map(str::to_owned);
        let mut line = [&words[..], numbers].concat();
        line.resize(COLUMNS.split(',').count(), String::new());
        line
    }
}

fn number(value: f64) -> String {
    value.to_string()
}
