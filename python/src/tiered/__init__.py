"""`tiered` for notebooks: what a trained run answers about stories, and scores of saved predictions.

Everything here asks the program of this package and returns its JSON. docs/formats.md in the repository describes every field.

>>> import tiered
>>> run = tiered.load_run("runs/demo")
>>> answers = run.predict([["Rosa unplugged the kettle.", "Rosa switched the kettle on."]], entities=["Rosa", "kettle"])
>>> predictions = tiered.read_predictions("runs/demo/eval/it-test-all/predictions.jsonl")
>>> scores = tiered.score("runs/demo/eval/it-test-all/predictions.jsonl")
"""
from importlib.metadata import version as _version

from tiered._answers import Answer, Conflict, Sentence, SingleStory, State, StoryAnswer, StoryChoice
from tiered._libtorch import SetupError
from tiered._predictions import read_predictions
from tiered._program import ProgramError
from tiered._runs import Pair, Run, Story, load_run
from tiered._scores import score

__version__ = _version("tiered")
__all__ = [
    "Answer",
    "Conflict",
    "Pair",
    "ProgramError",
    "Run",
    "Sentence",
    "SetupError",
    "SingleStory",
    "State",
    "Story",
    "StoryAnswer",
    "StoryChoice",
    "load_run",
    "read_predictions",
    "score",
]
