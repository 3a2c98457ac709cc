//! A comparison as text, Markdown or JSON.

use super::{Comparison, ComparisonRow, RowDifference, Section};
use crate::metrics::{self, Difference, Estimate, PValue, Tiers};
use crate::report::tables::percent_of;
use crate::report::{PublishedRow, Table};
use crate::say::counted;
use crate::schema;

pub(super) const MISSING: &str = "missing";
const UNDEFINED: &str = "–";
/// Why a difference has none.
const NO_INTERVAL: &str = "; [–]: fewer than 6 groups differ, or all by the same share";

impl Comparison {
    /// Aligned tables for the terminal.
    pub fn to_text(&self) -> String {
        self.render(|section| format!("{}\n\n", section.title()), Table::to_text)
    }

    /// Headings and tables with pipes.
    pub fn to_markdown(&self) -> String {
        self.render(|section| format!("## {}\n\n", section.title()), Table::to_markdown)
    }

    /// Everything, with two spaces of indentation; read back by [`schema::from_slice`].
    pub fn to_json(&self) -> String {
        schema::document(self)
    }

    fn render(&self, title: impl Fn(&Section) -> String, table: impl Fn(&Table) -> String) -> String {
        let section = |section: &Section| {
            let differences = section.differences_table().map(|differences| format!("\n{}", table(&differences)));
            format!("{}{}{}", title(section), table(&section.scores_table()), differences.unwrap_or_default())
        };
        let sections: Vec<String> = self.sections.iter().map(section).collect();
        format!("{}\n{}\n", sections.join("\n"), self.note())
    }

    /// Explains the numbers.
    pub(super) fn note(&self) -> String {
        let Comparison { resamples: fewest, tests, sections, .. } = self;
        let most = sections.iter().filter_map(Section::resamples).max().unwrap_or(*fewest);
        let resamples = if most > *fewest { format!("{fewest} to {most}") } else { fewest.to_string() };
        let of_scores = match self.has_seeds() {
            true => "Percent of pairs: mean over seeds ± standard deviation [95 % interval of the mean",
            false => "Percent of pairs [95 % interval",
        };
        let of_scores = format!("{of_scores}, {resamples} draws of story groups].");
        match *tests {
            0 => of_scores,
            _ => format!(
                "{of_scores} Differences are in points{}. p-values are by the same draws and by McNemar's exact test, \
                 each with Holm's correction over {}.",
                if sections.iter().any(Section::lacks_intervals) { NO_INTERVAL } else { "" },
                counted(*tests, "test")
            ),
        }
    }
}

impl Section {
    pub(super) fn title(&self) -> String {
        let size = self.size.map_or("nothing evaluated yet".to_owned(), |size| {
            format!("{} in {}", counted(size.pairs, "pair"), counted(size.groups, "group"))
        });
        let mut scores = self.rows.iter().flat_map(|row| &row.scores);
        let lacks_states = scores.any(|scores| scores.verifiability.is_none());
        let lacking = if lacks_states { " (no verifiability: not all pairs have state labels)" } else { "" };
        format!("{}: {size}, decoded by {}{lacking}", self.set, self.decoding)
    }

    /// Whether a difference has no interval.
    fn lacks_intervals(&self) -> bool {
        let tiers = self.differences.iter().filter_map(|difference| difference.tiers.as_ref());
        tiers.flat_map(|tiers| tiers.each().into_iter().flatten()).any(|difference| difference.interval.is_none())
    }

    /// One line per row, then the published systems. If a row has published scores, there is a column for them.
    pub(super) fn scores_table(&self) -> Table {
        let has_published = self.rows.iter().any(|row| row.published.is_some());
        let has_seeds = self.has_seeds();
        let mut header = vec!["row"];
        header.extend(has_seeds.then_some("seeds"));
        header.extend(["accuracy", "consistency", "verifiability"]);
        header.extend(has_published.then_some("published"));
        let mut table = Table::new(header);
        for row in &self.rows {
            let mut cells = vec![format!("{} {}", row.index + 1, row.name)];
            cells.extend(has_seeds.then(|| row.seeds_cell()));
            cells.extend(row.score_cells());
            cells.extend(has_published.then(|| row.published.as_ref().map_or(String::new(), published_cell)));
            table.push(cells);
        }
        for published in &self.published {
            let scores = [published.accuracy, published.consistency, published.verifiability];
            let mut cells = vec![published.system.clone()];
            cells.extend(has_seeds.then(String::new));
            cells.extend(scores.map(percent_of));
            cells.extend(has_published.then(String::new));
            table.push(cells);
        }
        table
    }

    /// One line per tier for every two compared rows. `None` if no rows are compared.
    pub(super) fn differences_table(&self) -> Option<Table> {
        let header = ["difference", "tier", "points", "bootstrap p", "corrected p", "McNemar p", "corrected p"];
        let mut table = Table::new(header);
        for RowDifference { rows: [first, second], tiers, .. } in &self.differences {
            let name = format!("{} - {}", first + 1, second + 1);
            match tiers {
                Some(tiers) => tiers.each().into_iter().zip(Tiers::<Difference>::NAMES).for_each(|(tier, of)| {
                    table.push(
                        [vec![name.clone(), of.to_owned()], tier.map_or_else(undefined_cells, difference_cells)]
                            .concat(),
                    );
                }),
                None => table.push([vec![name, String::new(), MISSING.to_owned()], vec![String::new(); 4]].concat()),
            }
        }
        (!self.differences.is_empty()).then_some(table)
    }
}

impl ComparisonRow {
    fn seeds_cell(&self) -> String {
        match self.missing.len() {
            0 => self.seeds.len().to_string(),
            missing => format!("{} of {}", self.seeds.len(), self.seeds.len() + missing),
        }
    }

    fn score_cells(&self) -> [String; 3] {
        match &self.scores {
            Some(scores) => scores.each().map(|score| score.map_or(UNDEFINED.to_owned(), estimate_cell)),
            None => [(); 3].map(|()| MISSING.to_owned()),
        }
    }
}

/// `72.6 ± 1.3 [63.9, 79.9]`; for a single seed without the spread.
fn estimate_cell(Estimate { mean, sd, interval: [low, high] }: &Estimate) -> String {
    let spread = sd.map_or(String::new(), |sd| format!(" ± {}", percent_of(sd)));
    format!("{}{spread} [{}, {}]", percent_of(*mean), percent_of(*low), percent_of(*high))
}

fn published_cell(row: &PublishedRow) -> String {
    let [accuracy, consistency, verifiability] = [row.accuracy, row.consistency, row.verifiability].map(percent_of);
    format!("{accuracy} / {consistency} / {verifiability} {}", row.system)
}

/// Points with their interval, a dash where too few groups differ for one; p by the bootstrap and by McNemar's test, each
/// before and after Holm's correction.
pub fn difference_cells(difference: &Difference) -> Vec<String> {
    let Difference { difference, interval, bootstrap, mcnemar } = difference;
    let points = |share: f64| format!("{:+.1}", metrics::percent_of(share));
    let interval = interval.map_or(UNDEFINED.to_owned(), |bounds| bounds.map(points).join(", "));
    let p_values = [bootstrap, mcnemar].into_iter().flat_map(|PValue { p, holm }| [p_cell(*p), p_cell(*holm)]);
    std::iter::once(format!("{} [{interval}]", points(*difference))).chain(p_values).collect()
}

fn undefined_cells() -> Vec<String> {
    vec![UNDEFINED.to_owned(); 5]
}

fn p_cell(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}
