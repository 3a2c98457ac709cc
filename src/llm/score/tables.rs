//! The tables of scores of language models, and the documents that hold them.

use super::agreement::Agreement;
use super::figures::TierTally;
use super::pairs::{RankShare, RankShares};
use super::report::{ModelScores, ScoreReport};
use crate::llm::tier::{Protocol, Tier};
use crate::metrics::{KindShares, Share};
use crate::report::{INTERVALS, KindScores, PublishedStoryRow, Table, TableFormat};
use crate::schema;

/// What stands where a figure is not known.
const UNKNOWN: &str = "–";

/// What was counted, beneath the tables.
const BY_STORY: &str = "By story: accuracy is a share of all stories, consistency and verifiability of all implausible \
                        ones, asked or not. Kinds are the letters of ids (protocol \
                        gita4calamita) or the types of the stories.";

const OF_PAIRS: &str = "Pairs: an implausible story and the plausible one of its group, ranked by the margin of \
                        \"true\" over \"false\"; a tie counts half. Kinds are by type. Not the protocol of \
                        GITA4CALAMITA.";

const NO_AGREEMENT: &str = "Agreement is counted by the margin of \"true\" over \"false\", which is not known of both runs \
                            (–): answers in words have none.";

const LEADERBOARD: &str = "The CALAMITA leaderboard was measured in another way: prompts plain even for instruct \
                           models, kinds by type, consistency and verifiability of 239 stories, survivors by \
                           example_id.";

impl ScoreReport {
    /// For the terminal: title, tables, and what was counted.
    pub fn to_text(&self) -> String {
        format!("{}\n\n{}\n{}", self.title(), joined(&self.tables(), Table::to_text), self.notes())
    }

    /// The same with a heading of level 2.
    pub fn to_markdown(&self) -> String {
        format!("## {}\n\n{}\n{}", self.title(), joined(&self.tables(), Table::to_markdown), self.notes())
    }

    /// The tables alone, an empty line between two, for formats without text around them: those of figures name the
    /// protocol, and remarks are a table of their own.
    pub fn in_tables(&self, format: TableFormat) -> String {
        let asked = format!("asked by protocol {}", self.protocol);
        let measured = self.measured().into_iter().map(|table| table.titled(&asked));
        let tables: Vec<Table> = measured.chain(self.leaderboard()).chain(self.remarks()).collect();
        joined(&tables, format)
    }

    /// The whole report with the version of our formats, and a line end.
    pub fn to_json(&self) -> String {
        schema::document(self)
    }

    fn title(&self) -> String {
        let (stories, implausible) = (self.stories.all, self.stories.implausible);
        format!("Protocol {}: {stories} stories, {implausible} of them implausible", self.protocol)
    }

    fn notes(&self) -> String {
        let mut notes = vec![INTERVALS.to_owned()];
        if self.is_by_story() {
            notes.push(BY_STORY.to_owned());
        }
        if self.models.iter().any(|model| model.pairs.is_some()) {
            notes.push(OF_PAIRS.to_owned());
        }
        if self.agreement.as_ref().is_some_and(|agreement| agreement.pairs.is_none()) {
            notes.push(NO_AGREEMENT.to_owned());
        }
        if !self.calamita_leaderboard.is_empty() {
            notes.push(LEADERBOARD.to_owned());
        }
        for model in &self.models {
            notes.extend(model.remarks.iter().map(|remark| format!("{}: {remark}.", model.model)));
        }
        notes.join("\n") + "\n"
    }

    fn is_by_story(&self) -> bool {
        self.protocol != Protocol::Pairs
    }

    fn tables(&self) -> Vec<Table> {
        self.measured().into_iter().chain(self.leaderboard()).collect()
    }

    /// The tables of what was asked by the protocol.
    fn measured(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        if self.is_by_story() {
            tables.extend(Tier::ALL.map(|tier| self.tier(tier)));
        }
        tables.extend(self.pairs());
        tables.push(self.tallies());
        tables.extend(self.agreement.as_ref().map(Agreement::table));
        tables
    }

    /// What must stand beside the figures, if there is something.
    fn remarks(&self) -> Option<Table> {
        let mut table = Table::new(["model", "remark"]);
        for model in &self.models {
            model.remarks.iter().for_each(|remark| table.push([model.name(), remark.clone()]));
        }
        (!table.rows().is_empty()).then_some(table)
    }

    /// One tier by story: models, answers without a model, published rows.
    fn tier(&self, tier: Tier) -> Table {
        let plausible = (tier == Tier::Story).then_some("plausible");
        let header = [format!("{}, % of stories", tier.measure())];
        let kinds = ["all", "cloze", "order"].into_iter().chain(plausible).map(str::to_owned);
        let mut table = Table::new(header.into_iter().chain(kinds));
        for model in &self.models {
            let cells = figure(model, tier).map_or_else(|| unknown(plausible.is_some()), |shares| cells(&shares));
            table.push([model.name()].into_iter().chain(cells));
        }
        for row in self.baselines.iter().chain(&self.published) {
            let scores = scores(row, tier);
            let of_all =
                [scores.overall, scores.cloze, scores.order].into_iter().chain(plausible.map(|_| scores.plausible));
            let of_all = of_all.map(|score| score.map_or_else(|| UNKNOWN.to_owned(), percent));
            table.push([row.system.clone()].into_iter().chain(of_all));
        }
        table
    }

    fn pairs(&self) -> Option<Table> {
        let mut table = Table::new(["pairs, %", "all", "cloze", "order"]);
        for model in &self.models {
            let Some(pairs) = &model.pairs else { continue };
            let row = |what: &str, cells: [String; 3]| [format!("{}: {what}", model.name())].into_iter().chain(cells);
            table.push(row("accuracy", of_kinds(pairs.accuracy.as_ref(), rank)));
            let Some(later) = &pairs.later else { continue };
            for (what, shares) in [
                ("consistency, gated", later.consistency_gated.as_ref()),
                ("verifiability, gated", later.verifiability_gated.as_ref()),
                ("consistency, ungated", Some(&later.consistency_ungated)),
                ("verifiability, ungated", later.verifiability_ungated.as_ref()),
            ] {
                table.push(row(what, of_kinds(shares, share)));
            }
        }
        (!table.rows().is_empty()).then_some(table)
    }

    /// What happened in every tier.
    fn tallies(&self) -> Table {
        let header = ["answers", "asked", "right", "tied", "undecided", "invalid", "without a right option"];
        let mut table = Table::new(header);
        for model in &self.models {
            for TierTally { tier, asked, right, ties, undecided, invalid, without_right_option } in &model.tiers {
                let counts = [asked, right, ties, undecided, invalid, without_right_option].map(u64::to_string);
                table.push([format!("{}: {tier}", model.name())].into_iter().chain(counts));
            }
        }
        table
    }

    fn leaderboard(&self) -> Option<Table> {
        let mut table = Table::new(["CALAMITA leaderboard, %", "accuracy", "consistency", "verifiability"]);
        for row in &self.calamita_leaderboard {
            let scores = [row.accuracy, row.consistency, row.verifiability].map(|score| format!("{:.0}", 100. * score));
            table.push([row.system.clone()].into_iter().chain(scores));
        }
        (!table.rows().is_empty()).then_some(table)
    }
}

impl Agreement {
    /// One row, for the run beside the one in the other order.
    pub fn table(&self) -> Table {
        let is_of_pairs = self.stories.is_none() && self.pairs.is_some();
        let (what, stories) = match is_of_pairs {
            false => ("options in the other order, %", Some("stories alike")),
            // No title stands above the only table, and only har has both stories in one prompt.
            true => ("stories in the other order, % (asked by protocol har)", None),
        };
        let header = [what].into_iter().chain(stories).chain(["pairs alike", "pairs right twice"]);
        let mut table = Table::new(header);
        let counted = stories.map(|_| self.stories).into_iter().chain([self.pairs, self.both_right]);
        let cells = counted.map(|counted| counted.as_ref().map_or_else(|| UNKNOWN.to_owned(), share));
        table.push([self.model.clone()].into_iter().chain(cells));
        table
    }

    /// The shares with the version of our formats, and a line end.
    pub fn to_json(&self) -> String {
        schema::document(self)
    }
}

fn joined(tables: &[Table], format: TableFormat) -> String {
    tables.iter().map(format).collect::<Vec<_>>().join("\n")
}

fn figure(model: &ModelScores, tier: Tier) -> Option<KindShares> {
    match tier {
        Tier::Story => Some(model.accuracy),
        Tier::Conflict => model.consistency,
        Tier::State => model.verifiability,
    }
}

fn scores(row: &PublishedStoryRow, tier: Tier) -> KindScores {
    match tier {
        Tier::Story => row.accuracy,
        Tier::Conflict => row.consistency,
        Tier::State => row.verifiability,
    }
}

fn unknown(with_plausible: bool) -> Vec<String> {
    vec![UNKNOWN.to_owned(); if with_plausible { 4 } else { 3 }]
}

fn cells(shares: &KindShares) -> Vec<String> {
    let all = [Some(shares.overall), Some(shares.cloze), Some(shares.order), shares.plausible];
    all.iter().flatten().map(share).collect()
}

fn of_kinds<T>(shares: Option<&RankShares<T>>, cell: fn(&T) -> String) -> [String; 3] {
    let Some(shares) = shares else { return [UNKNOWN; 3].map(str::to_owned) };
    [cell(&shares.overall), cell(&shares.cloze), cell(&shares.order)]
}

/// `45.22 [40.17, 50.28] 161/356`
fn share(share: &Share) -> String {
    let Some(fraction) = share.fraction() else { return UNKNOWN.to_owned() };
    format!("{}{} {}/{}", percent(fraction), interval(share.interval), share.count, share.total)
}

/// `55.04 [50.21, 60.08] 131 + 1 tied/238`
fn rank(share: &RankShare) -> String {
    let Some(fraction) = share.fraction else { return UNKNOWN.to_owned() };
    let tied = if share.tied == 0 { String::new() } else { format!(" + {} tied", share.tied) };
    format!("{}{} {}{tied}/{}", percent(fraction), interval(share.interval_95), share.right, share.total)
}

fn interval(bounds: Option<[f64; 2]>) -> String {
    bounds.map_or(String::new(), |[low, high]| format!(" [{}, {}]", percent(low), percent(high)))
}

/// Two decimals, as in the paper.
fn percent(fraction: f64) -> String {
    format!("{:.2}", 100. * fraction)
}
