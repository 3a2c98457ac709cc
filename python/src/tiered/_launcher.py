"""The command `tiered`: becomes the program, with the installed PyTorch as its libtorch."""
from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from tiered._libtorch import SetupError, environment

PROGRAM = Path(__file__).with_name("bin") / "tiered"
UNAVAILABLE = 69
"""The program's exit code for "something needed is not available here" (docs/exit-codes.md)."""


def main() -> NoReturn:
    """Replaces this process by the program, so that signals, exit codes and the terminal are the program's own."""
    try:
        variables = environment()
        _undo_signals_of_python()
        os.execve(PROGRAM, ["tiered", *sys.argv[1:]], variables)
    except SetupError as error:
        message = str(error)
    except OSError as error:
        message = f"{PROGRAM}: can't be run ({error.strerror}). Install the wheel of tiered again."
    print(f"error: {message}", file=sys.stderr)
    sys.exit(UNAVAILABLE)


def _undo_signals_of_python() -> None:
    """Python ignores these two, and a process passes on what it ignores."""
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
