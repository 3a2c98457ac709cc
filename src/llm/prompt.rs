//! The prompts of GITA4CALAMITA (Pensa et al., 2024, section 3.5), as its program renders them: an instruction, shots
//! with their answers, and the question. Instructions and questions are English, whatever the stories are.

use super::story::AskedStory;
use super::template::{ChatTemplate, Message};
use super::tier::Tier;
use crate::error::{Error, Result};

/// How a prompt is rendered.
#[derive(Debug, Clone)]
pub enum PromptStyle {
    /// One text, for base models.
    Plain,
    /// A conversation in the model's own template: the shots are earlier turns.
    Chat(ChatTemplate),
}

/// What the instruction of tier 1 asks to answer with. Only `TrueOrFalse` is the protocol's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wording {
    /// "Please answer with true or false."
    #[default]
    TrueOrFalse,
    /// The two options named in the other order.
    FalseOrTrue,
}

const STORY: &str = "Please read the following story and answer if the story is plausible taking into account the \
                     order of the events. Please answer with true or false.";

const CONFLICT: &str = "The following story is implausible. Identify the breakpoint, and then select the sentence \
                        responsible for the implausibility. Please identify the breakpoint sentence and the \
                        conflicting sentence.";

const STATE: &str = "The following story is implausible. Identify the physical state that causes the conflict in the \
                     story. These are the descriptions of each physical state:";

const CHOOSE: &str = " Select one of them after reading the story.";

/// Each stands on a line of its own, and the line before it ends in a blank.
const DESCRIPTIONS: [&str; 14] = [
    "Power: Indicates whether an object is powered or not, relevant for electrical devices.",
    "Location: Refers to the spatial position of an entity, either human or object.",
    "Exist: Denotes whether an object is present or has disappeared.",
    "Clean: Refers to the cleanliness of an entity, indicating whether it is clean or dirty.",
    "Edible: Identifies whether an object is fit for consumption.",
    "Wet: Denotes whether an object or person is in a wet or dry state.",
    "Functional: Refers to whether an object is in working condition or broken.",
    "Wearing: Applies to humans, indicating whether they are dressed or not.",
    "Open: Refers to whether an object (e.g., a door or container) is open or closed.",
    "Conscious: Denotes whether a human is conscious or unconscious.",
    "Temperature: Refers to the relative temperature of an entity, e.g., hot or cold.",
    "Solid: Describes whether an object is in a solid state.",
    "Occupied: Indicates whether an object (e.g., a container) is occupied or contains something.",
    "In pieces: Refers to whether an object is intact or has been broken into pieces.",
];

/// What the model is told to do.
pub fn instruction(tier: Tier, wording: Wording) -> String {
    match (tier, wording) {
        (Tier::Story, Wording::TrueOrFalse) => STORY.to_owned(),
        (Tier::Story, Wording::FalseOrTrue) => STORY.replace("true or false", "false or true"),
        (Tier::Conflict, _) => CONFLICT.to_owned(),
        (Tier::State, _) => format!("{STATE} \n{}{CHOOSE}", DESCRIPTIONS.join(" \n")),
    }
}

/// Opening, story and closing, without an answer.
pub fn question(tier: Tier, story: &AskedStory) -> String {
    let running: String = story.sentences.iter().map(|sentence| format!("{sentence} ")).collect();
    match tier {
        Tier::Story => format!("The story is as follows:\n{running}\nIs the story plausible?"),
        Tier::Conflict => {
            let numbered = story.sentences.iter().enumerate().map(|(i, sentence)| format!("{i}. {sentence}\n"));
            let numbered: String = numbered.collect();
            format!("The story is as follows: \n{numbered}\nThe conflicting sentence and the breakpoint are:")
        }
        Tier::State => {
            let closing = "The physical state that causes the conflict in the implausible story is: ";
            format!("The story is as follows: \n{running}\n{closing}")
        }
    }
}

/// The prompt that asks about a story after these shots.
///
/// # Errors
/// `Data` if a shot has no answer in this tier; `Config` if the template fails.
pub fn prompt(
    style: &PromptStyle,
    tier: Tier,
    wording: Wording,
    shots: &[&AskedStory],
    story: &AskedStory,
) -> Result<String> {
    let answered = |shot: &&AskedStory| {
        let lacking = || Error::data(format!("{}: is a shot of {tier}, and has no answer there", shot.name()));
        Ok((question(tier, shot), shot.answer(tier).ok_or_else(lacking)?))
    };
    let shots: Vec<(String, String)> = shots.iter().map(answered).collect::<Result<_>>()?;
    let (instruction, question) = (format!("{}\n\n", instruction(tier, wording)), question(tier, story));
    match style {
        PromptStyle::Plain => {
            let shots: String = shots.iter().map(|(question, answer)| format!("{question} {answer}\n\n")).collect();
            Ok(format!("{instruction}{shots}{question}"))
        }
        PromptStyle::Chat(template) => {
            let turns = shots.into_iter().flat_map(|(q, a)| [Message::user(q), Message::assistant(a)]);
            template.render(&instruction, turns.chain([Message::user(question)]).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durable::sha256;

    #[test]
    fn instructions_are_those_of_the_program() {
        let hashes = Tier::ALL.map(|tier| sha256(instruction(tier, Wording::TrueOrFalse).as_bytes()));
        let expected = ["938e34b233dd7d57", "a2064926c7091c78", "8920254bd0954e29"];
        for (hash, expected) in hashes.iter().zip(expected) {
            assert!(hash.starts_with(expected), "{hash}");
        }
    }

    #[test]
    fn the_other_wording_names_the_options_in_the_other_order() {
        let other = instruction(Tier::Story, Wording::FalseOrTrue);
        assert!(other.ends_with("answer with false or true."), "{other}");
        assert_eq!(instruction(Tier::State, Wording::FalseOrTrue), instruction(Tier::State, Wording::TrueOrFalse));
    }
}
