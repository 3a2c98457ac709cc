//! The formats of an analysis: text for the terminal, Markdown, JSON.

use super::{Analysis, Classified, Grouping, Mistake};
use crate::outside::shown;
use crate::report::{Table, percent, share, title};

/// Confusions that are shown in tables; JSON has all.
const CONFUSIONS: usize = 12;

/// The longest name of a room or a pair that is shown, in characters.
const LONGEST: usize = 40;

impl Analysis {
    /// Aligned tables for the terminal.
    pub fn to_text(&self) -> String {
        let tables: Vec<_> = self.tables().iter().map(Table::to_text).collect();
        format!("{}\n{}\n\n{}", title(&self.system, &self.data), self.reading(), tables.join("\n"))
    }

    /// A heading and tables with pipes.
    pub fn to_markdown(&self) -> String {
        let tables: Vec<_> = self.tables().iter().map(Table::to_markdown).collect();
        format!("## {}\n\n{}.\n\n{}", title(&self.system, &self.data), self.reading(), tables.join("\n"))
    }

    /// Everything, with two spaces of indentation.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("an analysis has string keys and finite numbers only") + "\n"
    }

    fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.tiers(), self.outcomes(), self.attributes(), self.recognised(), self.confusions()];
        tables.extend(self.groups.iter().map(groups));
        if self.turned_round.total > 0 {
            tables.push(self.turned_round());
        }
        if !self.calibration.is_empty() {
            tables.extend([self.calibration(), self.mistakes()]);
        }
        tables
    }

    fn tiers(&self) -> Table {
        let mut table = Table::new(["% [95% interval] count", "accuracy", "consistency", "verifiability"]);
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
        let heads = ["P", "R", "F1", "right"];
        let sides = ["before: ", "after: "].into_iter().flat_map(|side| heads.map(|head| format!("{side}{head}")));
        let first = ["nontrivial states, %".to_owned()].into_iter();
        let last = ["right at a conflict", "in a detected one"].map(str::to_owned);
        let mut table = Table::new(first.chain(sides).chain(last));
        for scores in &self.attributes {
            let cells = [scores.preconditions, scores.effects].into_iter().flat_map(classified);
            let support = [scores.support.at_conflict.to_string(), share(&scores.support.detected())];
            table.push([scores.attribute.to_string()].into_iter().chain(cells).chain(support));
        }
        table
    }

    fn recognised(&self) -> Table {
        let mut table = Table::new(["gold states of implausible stories, pair consistent", "recognised, %"]);
        table.push([format!("all, of {} pairs", self.recognised.pairs), share(&self.recognised.states)]);
        for row in &self.recognised.by_attribute {
            table.push([row.attribute.to_string(), share(&row.states)]);
        }
        table
    }

    fn confusions(&self) -> Table {
        let mut table = Table::new(["gold state missed", "asserted wrongly beside it", "times"]);
        for confused in self.confusions.iter().take(CONFUSIONS) {
            let asserted = match confused.gold == confused.asserted {
                true => "the same, another class".to_owned(),
                false => confused.asserted.to_string(),
            };
            table.push([confused.gold.to_string(), asserted, confused.count.to_string()]);
        }
        table
    }

    fn turned_round(&self) -> Table {
        let mut table =
            Table::new(["conflicts told the other way round in the plausible story", "likelier as told here, %"]);
        table.push(["all".to_owned(), share(&self.turned_round)]);
        table
    }

    fn calibration(&self) -> Table {
        let mut table = Table::new(["confidence of the story choice, %", "mean", "right"]);
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
        let mut table = Table::new(["most certain mistakes", "kind", "confidence, %", "said to conflict", "gold"]);
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
    let cell = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{:.1}", 100. * value));
    [cell(scores.precision), cell(scores.recall), cell(scores.f1), right]
}

/// Text of a file, which could be anything.
fn cell(text: &str) -> String {
    shown(text, LONGEST).replace('|', "\\|")
}

/// Sentences counted from 1.
fn numbered(sentences: &[usize]) -> String {
    let numbers: Vec<_> = sentences.iter().map(|sentence| (sentence + 1).to_string()).collect();
    if numbers.is_empty() { "none".to_owned() } else { numbers.join(" and ") }
}
