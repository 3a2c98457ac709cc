"""Runs the program and reads the JSON that it prints."""
from __future__ import annotations

import json
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiered._launcher import PROGRAM
from tiered._libtorch import environment

SCHEMA_VERSION = 1
# docs/exit-codes.md
_INVALID = (2, 65, 77, 78)
_NOT_FOUND = 66


class ProgramError(RuntimeError):
    """The program stopped with an error that is not about the values it was given. `exit_code` is in docs/exit-codes.md."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def run_program(arguments: Sequence[str | Path], standard_input: str = "") -> str:
    """What the program prints. Its warnings become Python's; its errors ValueError, FileNotFoundError or ProgramError."""
    done = subprocess.run(
        [PROGRAM, *arguments], input=standard_input, env=environment(), capture_output=True, encoding="utf-8", check=False
    )
    said = done.stderr.strip()
    if done.returncode == 0:
        if said:
            warnings.warn(said, stacklevel=3)
        return done.stdout
    before, _, message = f"\n{said}".rpartition("\nerror: ")
    if before.strip():
        warnings.warn(before.strip(), stacklevel=3)
    message = message.strip() or f"tiered stopped with exit code {done.returncode} and said nothing"
    if done.returncode in _INVALID:
        raise ValueError(message)
    if done.returncode == _NOT_FOUND:
        raise FileNotFoundError(message)
    raise ProgramError(message, done.returncode)


def json_object(text: str, where: str) -> dict[str, Any]:
    """One JSON object of a version that this package knows. `where` names it in errors."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{where}: a JSON object should stand here")
    version = value.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        raise ValueError(f"{where}: schema_version {version}, but this tiered reads {SCHEMA_VERSION}; update tiered")
    return value
