"""What `tiered predict --format json` prints: docs/schemas/answer.schema.json as types."""
from __future__ import annotations

from typing import Literal, TypedDict

Decoding = Literal["threshold", "pair", "contrast"]


class Sentence(TypedDict):
    """A sentence, and how probable it is that it takes part in a conflict."""

    text: str
    conflict_prob: float


class StoryAnswer(TypedDict):
    """A story that was asked about. `entities_found` says whether its entities were found, because nobody named them."""

    id: str
    entities: list[str]
    entities_found: bool
    sentences: list[Sentence]


class StoryChoice(TypedDict):
    """The story that was chosen as plausible, by its index from 0, and the probability that it is."""

    story: int
    probability: float


class SingleStory(TypedDict):
    """Whether a single story is said to be plausible, and the probability of what is said."""

    plausible: bool
    probability: float


class Conflict(TypedDict):
    """A sentence in conflict, by the indices of story and sentence from 0."""

    story: int
    sentence: int
    text: str
    conflict_prob: float


# `class` is a keyword, so this one can't be written as a class.
State = TypedDict(
    "State",
    {
        "story": int,
        "sentence": int,
        "side": Literal["precondition", "effect"],
        "entity": str,
        "attribute": str,
        "class": int,
        "words": str,
    },
)
"""A state predicted at the conflict, by the indices of story, sentence and class from 0."""


class _Always(TypedDict):
    schema_version: int
    line: int
    stories: list[StoryAnswer]
    plausible: StoryChoice | None
    decode: Decoding
    conflict_detected: bool
    conflict: list[Conflict]
    states: list[State]


class Answer(_Always, total=False):
    """The answer to one or two stories. `plausible` is None for a single story; `line` is its index in what was asked."""

    single_story: SingleStory
    subject: str
