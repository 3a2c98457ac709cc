//! The formats of an analysis: text for the terminal, Markdown, tables, JSON.

use super::{Analysis, Classified, Grouping, Mistake};
use crate::report::{INTERVALS, Table, TableFormat, percent, share, title};
use crate::schema;
use crate::untrusted::shown;

/// How many confusions tables show. JSON has all.
const CONFUSIONS: usize = 12;

/// The longest name of a location or a pair that is shown, in characters.
const LONGEST: usize = 40;

impl Analysis {
    /// Aligned tables for the terminal.
    pub fn to_text(&self) -> String {
        let tables: Vec<_> = self.tables().iter().map(Table::to_text).collect();
        let title = title(&self.system, &self.data);
        format!("{title}\n{}\n\n{}\n{INTERVALS}\n", self.reading(), tables.join("\n"))
    }

    /// A heading and tables with pipes.
    pub fn to_markdown(&self) -> String {
        let tables: Vec<_> = self.tables().iter().map(Table::to_markdown).collect();
        let title = title(&self.system, &self.data);
        format!("## {title}\n\n{}.\n\n{}\n{INTERVALS}\n", self.reading(), tables.join("\n"))
    }

    /// The tables only, with an empty line between two. CSV and LaTeX say in the first one what was measured on what, and
    /// how.
    pub fn in_tables(&self, format: TableFormat) -> String {
        let mut tables = self.tables();
        tables[0] = self.tiers().titled(format!("{}; {}", title(&self.system, &self.data), self.reading()));
        tables.iter().map(format).collect::<Vec<_>>().join("\n")
    }

    /// Everything, with two spaces of indentation.
    pub fn to_json(&self) -> String {
        schema::document(self)
    }

    fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.tiers(), self.outcomes(), self.attributes(), self.recall(), self.confusions()];
        tables.extend(self.groups.iter().map(groups));
        if self.order_sensitivity.total + self.order_ties > 0 {
            tables.push(self.order_sensitivity());
        }
        if !self.calibration.is_empty() {
            tables.extend([self.calibration(), self.mistakes()]);
        }
        tables
    }

    fn tiers(&self) -> Table {
        let mut table = Table::new(["% of pairs [95 % interval]", "accuracy", "consistency", "verifiability"]);
        let tiers = [&self.accuracy, &self.consistency, &self.verifiability].map(share);
        table.push(std::iter::once("all pairs".to_owned()).chain(tiers));
        table
    }

    fn outcomes(&self) -> Table {
        let mut table = Table::new(["story", "conflict", "states", "pairs"]);
        let mark = |is_right| if is_right { "right" } else { "wrong" }.to_owned();
        for outcome in &self.outcomes {
            table.push([mark(outcome.story), mark(outcome.conflict), mark(outcome.states), share(&outcome.pairs)]);
        }
        table
    }

    fn attributes(&self) -> Table {
        let heads = ["precision", "recall", "F1", "correct"];
        let sides = ["before: ", "after: "].into_iter().flat_map(|side| heads.map(|head| format!("{side}{head}")));
        let first = ["nontrivial states, %".to_owned()].into_iter();
        let last = ["correct at a conflict", "at a detected conflict"].map(str::to_owned);
        let mut table = Table::new(first.chain(sides).chain(last));
        for scores in &self.attributes {
            let cells = [scores.preconditions, scores.effects].into_iter().flat_map(classified);
            let support = [scores.support.detected.total.to_string(), share(&scores.support.detected)];
            table.push([scores.attribute.to_string()].into_iter().chain(cells).chain(support));
        }
        table
    }

    fn recall(&self) -> Table {
        let mut table = Table::new(["gold states in implausible stories of consistent pairs", "recall, %"]);
        table.push([format!("all, in {} pairs", self.recall.pairs), share(&self.recall.states)]);
        for row in &self.recall.by_attribute {
            table.push([row.attribute.to_string(), share(&row.states)]);
        }
        table
    }

    fn confusions(&self) -> Table {
        let mut table = Table::new(["missed gold state", "wrongly predicted state", "count"]);
        for confused in self.confusions.iter().take(CONFUSIONS) {
            let predicted = match confused.gold == confused.predicted {
                true => "same attribute, wrong class".to_owned(),
                false => confused.predicted.to_string(),
            };
            table.push([confused.gold.to_string(), predicted, confused.count.to_string()]);
        }
        table
    }

    fn order_sensitivity(&self) -> Table {
        let title = "order sensitivity: conflicts in the other order in the plausible story";
        let mut table = Table::new([title, "sensitive, %", "tied, left out"]);
        table.push(["all".to_owned(), share(&self.order_sensitivity), self.order_ties.to_string()]);
        table
    }

    fn calibration(&self) -> Table {
        let mut table = Table::new(["confidence of the story choice, %", "mean confidence", "right"]);
        for reliability in &self.calibration {
            let calibration = &reliability.calibration;
            let name = format!("temperature {:.2}: calibration error", calibration.temperature);
            table.push([name, String::new(), percent(calibration.ece)]);
            for bin in &reliability.bins {
                let name = format!("  {:.1} to {:.1}", 100. * bin.from, 100. * bin.to);
                table.push([name, percent(Some(bin.confidence)), share(&bin.right)]);
            }
        }
        table
    }

    fn mistakes(&self) -> Table {
        let mut table = Table::new([
            "mistakes of highest confidence",
            "kind",
            "confidence, %",
            "predicted conflict",
            "gold conflict",
        ]);
        for Mistake { id, kind, confidence, conflict, gold_conflict } in &self.mistakes {
            let confidence = percent(Some(f64::from(*confidence)));
            table.push([cell(id), cell(kind), confidence, numbered(conflict), numbered(gold_conflict)]);
        }
        table
    }
}

fn groups(grouping: &Grouping) -> Table {
    let mut table = Table::new([grouping.by, "accuracy", "consistency", "verifiability"]);
    for row in &grouping.rows {
        let tiers = [&row.accuracy, &row.consistency, &row.verifiability].map(share);
        table.push(std::iter::once(cell(&row.name)).chain(tiers));
    }
    table
}

fn classified(scores: Classified) -> [String; 4] {
    let right = format!("{}/{}", scores.counts.correct, scores.counts.predicted);
    let cell = |value: Option<f64>| value.map_or("-".to_owned(), |value| percent(Some(value)));
    [cell(scores.precision), cell(scores.recall), cell(scores.f1), right]
}

/// Untrusted text of a file, as a cell.
fn cell(text: &str) -> String {
    shown(text, LONGEST)
}

/// The numbers of sentences, from 1.
fn numbered(sentences: &[usize]) -> String {
    let numbers: Vec<_> = sentences.iter().map(|sentence| (sentence + 1).to_string()).collect();
    if numbers.is_empty() { "none".to_owned() } else { numbers.join(" and ") }
}
