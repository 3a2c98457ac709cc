"""Saved predictions as a table."""
from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tiered._program import json_object

if TYPE_CHECKING:
    import pandas


def read_predictions(path: str | os.PathLike[str]) -> pandas.DataFrame:
    """A `predictions.jsonl`, one row a pair, one column a field of docs/formats.md, "Prediction".

    Indices count from 0. `story_probs`, `conflict`, `gold_conflict` and `stories` hold lists, as in the file.

    Needs pandas: `pip install "tiered[pandas]"`. Raises ValueError if a line is not a prediction.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError('read_predictions needs pandas. Install it: pip install "tiered[pandas]"') from error
    rows = []
    with Path(path).open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            row = json_object(line, f"{path}, line {number}")
            if "story_probs" not in row:
                raise ValueError(f"{path}, line {number}: not a prediction (it has no story_probs); `tiered eval` writes predictions")
            row.pop("schema_version", None)
            rows.append(row)
    if not rows:
        raise ValueError(f"{path}: contains no predictions; `tiered eval` writes them")
    return pandas.DataFrame(rows)
