"""Trained runs, and what they answer about stories."""
from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard, cast

from tiered._answers import Answer, Decoding
from tiered._program import json_object, run_program

Story = Sequence[str] | Mapping[str, Sequence[str]]
"""A list of sentences, or a dict with `sentences` and `entities`."""
Pair = Sequence[Story]
"""Two stories of which one is plausible."""


@dataclass(frozen=True)
class Run:
    """A trained run. `load_run` makes it."""

    path: Path
    weights: Literal["best", "last"] = "best"
    device: str | None = None
    precision: str | None = None
    decode: Decoding | None = None
    states: str | None = None
    augment: bool = False

    def predict(self, stories: Iterable[Story | Pair], entities: Sequence[str] = ()) -> list[Answer]:
        """The answer to each of `stories`, in their order.

        Each is a single story or a pair of stories. A story is a list of sentences, or a dict with `sentences` and
        `entities` (the people and things in it). `entities` are those of the stories that name none themselves.
        Where nobody names them, they are found in the sentences.
        An answer is described in docs/formats.md, "Answer".

        The model is loaded anew at each call, which takes about a second: give all stories in one call.

        Raises ValueError with the program's own message if a story can't be used. Its line N is the Nth of `stories`.
        """
        questions = [json.dumps(_question(story, entities)) for story in stories]
        if not questions:
            return []
        printed = run_program(
            ["predict", self.path, "-", "--batch", "--quiet", *self._options()], "".join(q + "\n" for q in questions)
        )
        answers = [json_object(line, "an answer of tiered predict") for line in printed.removesuffix("\n").split("\n")]
        if len(answers) != len(questions):
            raise RuntimeError(f"tiered predict gave {len(answers)} answers to {len(questions)} questions")
        return cast("list[Answer]", answers)

    def _options(self) -> list[str]:
        given = {
            "--weights": self.weights,
            "--device": self.device,
            "--precision": self.precision,
            "--decode": self.decode,
            "--states": self.states,
        }
        options = [f"{option}={value}" for option, value in given.items() if value is not None]
        return options + ["--augment"] * self.augment


def load_run(
    path: str | os.PathLike[str],
    *,
    weights: Literal["best", "last"] = "best",
    device: str | None = None,
    precision: str | None = None,
    decode: Decoding | None = None,
    states: str | None = None,
    augment: bool = False,
) -> Run:
    """The run in a folder that `tiered train` made.

    `weights`, `device`, `precision`, `decode`, `states` and `augment` are the options of `tiered predict`; None
    stands for its default.

    Raises FileNotFoundError if the folder is not a run.
    """
    folder = Path(path)
    if not (folder / "model.json").is_file():
        raise FileNotFoundError(f"{folder}: not a run folder (it has no model.json); `tiered train` makes one")
    return Run(folder, weights, device, precision, decode, states, augment)


def _question(asked: Story | Pair, entities: Sequence[str]) -> dict[str, Any]:
    if isinstance(entities, str):
        raise TypeError(f"entities is a list of names, not {entities!r}")
    if isinstance(asked, Mapping) or _is_sentences(asked):
        return _story(asked, entities)
    if isinstance(asked, str) or not isinstance(asked, Sequence):
        raise _not_a_story(asked)
    return {"stories": [_story(story, entities) for story in asked]}


def _story(story: object, entities: Sequence[str]) -> dict[str, Any]:
    if isinstance(story, Mapping):
        asked = dict(story)
    elif _is_sentences(story):
        asked = {"sentences": list(story)}
    else:
        raise _not_a_story(story)
    if entities and not asked.get("entities"):
        asked["entities"] = list(entities)
    return asked


def _is_sentences(value: object) -> TypeGuard[Sequence[str]]:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(one, str) for one in value)


def _not_a_story(value: object) -> TypeError:
    return TypeError(f"a story is a list of sentences, or a dict with `sentences` and `entities`, not {value!r}")
