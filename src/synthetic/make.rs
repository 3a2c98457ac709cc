//! Synthesizes a file of pairs.

use super::failed::Failed;
use super::file::{MadeStory, Writer};
use super::language::{Manner, Voice};
use super::plot::{Broken, Line, Plotter};
use super::style::Style;
use super::table::World;
use super::thing::ThingId;
use crate::data::Kind;
use crate::error::{Error, ErrorKind, Result};
use crate::language::Language;
use crate::seed;
use rand_chacha::ChaCha12Rng;
use std::io::Write;

/// After this many failed attempts at one group, the tables must be wrong.
const TRIES_A_GROUP: usize = 2000;

/// What to synthesize.
#[derive(Debug, Clone)]
pub struct Order {
    /// The language of all stories.
    pub language: Language,
    /// The data set that they resemble.
    pub style: Style,
    /// Pairs of a plausible and an implausible story.
    pub pairs: usize,
    /// Of all random choices.
    pub seed: u64,
    /// Which implausible stories are made.
    pub kinds: Kinds,
    /// The split's name.
    pub split: String,
}

/// How plausible stories are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs)] // comments of variants become help text
pub enum Kinds {
    Cloze,
    Order,
    /// Each plausible story is broken in both ways.
    Both,
}

impl Kinds {
    fn list(self) -> &'static [Kind] {
        match self {
            Kinds::Cloze => &[Kind::Cloze],
            Kinds::Order => &[Kind::Order],
            Kinds::Both => &Kind::ALL,
        }
    }

    /// The pairs of a group: one for each way in which its plausible story is broken.
    pub fn pairs_a_group(self) -> usize {
        self.list().len()
    }
}

/// A plausible story and its broken versions.
struct Group {
    plausible: MadeStory,
    broken: Vec<MadeStory>,
}

/// Synthesizes stories and writes them as a story file with one split. The same order gives the same bytes.
///
/// # Errors
/// `Io`, without a file name, if `output` fails; `Internal` if the tables allow no story.
pub fn make_stories(world: &World, order: &Order, output: &mut dyn Write) -> Result<()> {
    let mut writer = Writer::begin(output, &order.split)?;
    for number in 0..order.pairs.div_ceil(order.kinds.list().len()) {
        write_group(world, order, number as u64, &mut writer)?;
    }
    writer.finish()
}

/// Writes a story file that holds only one of the groups of [`make_stories`], with the same bytes for each story. Groups
/// are counted from 0; a group has [`Kinds::pairs_a_group`] pairs.
///
/// # Errors
/// Like [`make_stories`].
pub fn make_group(world: &World, order: &Order, number: u64, output: &mut dyn Write) -> Result<()> {
    let mut writer = Writer::begin(output, &order.split)?;
    write_group(world, order, number, &mut writer)?;
    writer.finish()
}

fn write_group(world: &World, order: &Order, number: u64, writer: &mut Writer) -> Result<()> {
    let left = order.pairs.saturating_sub(number as usize * order.kinds.pairs_a_group());
    let group = group(world, order, number)?;
    writer.write(number as i64, 0, &group.plausible)?;
    // The last group may be incomplete. It is made as a whole, so that more pairs begin with the same stories.
    group.broken.iter().take(left).try_for_each(|broken| writer.write(number as i64, 0, broken))
}

fn group(world: &World, order: &Order, number: u64) -> Result<Group> {
    let mut rng = seed::rng(order.seed, "story", number);
    (0..TRIES_A_GROUP).find_map(|_| try_group(world, order, &mut rng).ok()).ok_or_else(|| {
        Error::new(
            ErrorKind::Internal,
            "the tables of data/world allow no story; check that some actions have weights above 0",
        )
    })
}

fn try_group(world: &World, order: &Order, rng: &mut ChaCha12Rng) -> Result<Group, Failed> {
    let voice = Voice::draw(world, order.language, order.style, rng).ok_or(Failed)?;
    let plotter = Plotter::new(world, &voice);
    let room = plotter.room(rng)?;
    let lines = plotter.plausible(room, rng)?;
    let broken = order.kinds.list().iter().map(|kind| match kind {
        Kind::Cloze => plotter.cloze(&lines, room, rng),
        Kind::Order => plotter.order(&lines, rng),
    });
    let broken = broken.collect::<Result<Vec<_>, _>>()?;
    let manners = lines.iter().enumerate().map(|(i, line)| voice.manner(world, line, i == 0, rng)).collect();
    let teller = Teller { world, voice: &voice, room, manners };
    Ok(Group {
        plausible: teller.tell(&lines, &(0..lines.len()).map(Some).collect::<Vec<_>>(), None, rng)?,
        broken: broken.iter().map(|b| teller.tell(&b.lines, &b.origins, Some(b), rng)).collect::<Result<_, _>>()?,
    })
}

/// Puts all versions of one story into words in the same way.
struct Teller<'a> {
    world: &'a World,
    voice: &'a Voice,
    room: ThingId,
    /// For each sentence of the plausible story, how it is told.
    manners: Vec<Manner<'a>>,
}

impl Teller<'_> {
    /// `Failed` if the story begins with a pronoun or with "then", repeats a sentence, or has names that are too similar.
    fn tell(
        &self,
        lines: &[Line],
        origins: &[Option<usize>],
        broken: Option<&Broken>,
        rng: &mut ChaCha12Rng,
    ) -> Result<MadeStory, Failed> {
        let mut manner = |(at, (line, origin)): (usize, (&Line, &Option<usize>))| match *origin {
            Some(origin) => self.manners[origin],
            None => Manner { as_pronoun: false, ..self.voice.manner(self.world, line, at == 0, rng) },
        };
        let manners: Vec<_> = lines.iter().zip(origins).enumerate().map(&mut manner).collect();
        let sentences: Vec<_> =
            lines.iter().zip(&manners).map(|(line, &manner)| self.voice.say(self.world, line, manner)).collect();
        if !manners[0].can_open() || !are_different(&sentences) {
            return Err(Failed);
        }
        MadeStory::new(self.world, self.voice, self.room, lines, sentences, broken).ok_or(Failed)
    }
}

fn are_different(sentences: &[String]) -> bool {
    sentences.iter().enumerate().all(|(i, sentence)| !sentences[..i].contains(sentence))
}
