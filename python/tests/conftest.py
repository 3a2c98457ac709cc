from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def run_folder() -> Path:
    """A trained run that was evaluated on data/sample/it.json. scripts/test-wheel.sh makes one."""
    named = os.environ.get("TIERED_TEST_RUN")
    if named is None:
        pytest.skip("TIERED_TEST_RUN names no run folder")
    return Path(named)


@pytest.fixture(scope="session")
def predictions_file(run_folder: Path) -> Path:
    return run_folder / "eval/it-test-all/predictions.jsonl"
