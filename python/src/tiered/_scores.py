"""Scores of saved predictions."""
from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiered._program import json_object, run_program


def score(
    path: str | os.PathLike[str],
    *others: str | os.PathLike[str],
    states: str | Sequence[str] = (),
    published: str | None = None,
) -> dict[str, Any]:
    """The scores of a `predictions.jsonl`, as `tiered score --format json` prints them (docs/formats.md, "Report").

    Several files of the same pairs are scored as an ensemble. `states` says which states are predicted ("argmax", "0.7",
    "0.95+top1"), or several such ways. `published` adds published scores ("trip-dev", "gita-cloze", ...).

    Scores are fractions with 95 % intervals. Raises ValueError with the program's own message if a file can't be scored.
    """
    ways = [states] if isinstance(states, str) else states
    options = [f"--states={way}" for way in ways] + ([f"--published={published}"] if published else [])
    files = [Path(file) for file in (path, *others)]
    return json_object(run_program(["score", "--format=json", "--quiet", *options, "--", *files]), "the scores of tiered score")
