"""The commands `tiered` and `python -m tiered`, as processes."""
from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import fake_program, fake_torch

from tiered._launcher import PROGRAM

COMMANDS = [[str(Path(sys.executable).with_name("tiered"))], [sys.executable, "-m", "tiered"]]
LIBTORCH = ("libtorch.so", "libtorch_cpu.so", "libc10.so")
BOTH = pytest.mark.parametrize("command", COMMANDS, ids=["script", "module"])


def launched(program: Path, arguments: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Launches another program instead of ours."""
    code = f"import pathlib, tiered._launcher as launcher; launcher.PROGRAM = pathlib.Path({str(program)!r}); launcher.main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )


@contextlib.contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that waits for input. It and its children end with the test, also with one that fails."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@BOTH
def test_the_program_runs_with_the_installed_torch(command: list[str]) -> None:
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("tiered ") and "libtorch 2.13." in done.stdout


@BOTH
def test_exit_codes_and_messages_are_the_programs(command: list[str]) -> None:
    done = subprocess.run([*command, "predict", "no-such-run"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 66
    assert done.stderr.startswith("error: no-such-run: not a run folder")
    assert subprocess.run([*command, "nonsense"], capture_output=True, check=False).returncode == 2


def test_the_process_becomes_the_program_and_takes_its_signals(tmp_path: Path) -> None:
    waiting = fake_program(tmp_path / "program", "trap 'exit 75' TERM\necho $$\nwhile :; do sleep 0.05; done")
    code = f"import pathlib, tiered._launcher as launcher; launcher.PROGRAM = pathlib.Path({str(waiting)!r}); launcher.main()"
    with started([sys.executable, "-c", code]) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) == process.pid
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 75


@BOTH
def test_libtorch_is_that_of_this_python_and_a_signal_ends_the_program(command: list[str], run_folder: Path) -> None:
    torch = PROGRAM.with_name("tiered-torch")
    with started([*command, "predict", str(run_folder)]) as process:
        until = time.monotonic() + 30
        while not (mapped := libraries_of_torch(process.pid)) or os.path.realpath(f"/proc/{process.pid}/exe") != str(torch.resolve()):
            assert time.monotonic() < until, "the process did not become the program"
            time.sleep(0.02)
        process.kill()
        assert process.wait(timeout=30) == -signal.SIGKILL
    installed = importlib.util.find_spec("torch")
    assert installed is not None and installed.origin is not None
    libraries = Path(installed.origin).parent / "lib"
    assert mapped == {(libraries / name).resolve() for name in LIBTORCH}


def libraries_of_torch(process: int) -> set[Path]:
    """Those that a process has mapped, once all that the program is linked to are there."""
    mapped = {Path(line.split()[-1]) for line in Path(f"/proc/{process}/maps").read_text().splitlines()}
    found = {library for library in mapped if library.name in LIBTORCH}
    return found if len(found) == len(LIBTORCH) else set()


def test_arguments_and_libraries_reach_the_program_unchanged(tmp_path: Path) -> None:
    torch = fake_torch(tmp_path / "site")
    program = fake_program(tmp_path / "program", 'echo "$LD_LIBRARY_PATH"\nfor one; do echo "<$one>"; done\nexit 42')
    done = launched(program, ["a b", "", "--x=*"], PYTHONPATH=str(tmp_path / "site"), LD_LIBRARY_PATH="/opt/mine")
    assert done.stdout.splitlines() == [f"{torch / 'lib'}:/opt/mine", "<a b>", "<>", "<--x=*>"]
    assert (done.returncode, done.stderr) == (42, "")


def test_the_program_does_not_inherit_the_signals_that_python_ignores(tmp_path: Path) -> None:
    program = fake_program(tmp_path / "program", "exec grep SigIgn /proc/self/status")
    ignored = int(launched(program, []).stdout.split()[1], 16)
    for name in (signal.SIGPIPE, signal.SIGXFSZ):
        assert not ignored & 1 << (name - 1), name


def test_another_torch_ends_with_69_and_one_message(tmp_path: Path) -> None:
    fake_torch(tmp_path, "2.12.0")
    done = subprocess.run(
        [sys.executable, "-m", "tiered", "doctor"], env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )
    assert (done.returncode, done.stdout) == (69, "")
    assert done.stderr == (
        f"error: tiered needs PyTorch 2.13, and {tmp_path / 'torch'} is PyTorch 2.12.0. Install the other version:\n"
        '    pip install "torch==2.13.*"\n'
    )


def test_a_program_that_is_gone_or_unusable_is_named(tmp_path: Path) -> None:
    not_executable = tmp_path / "program"
    not_executable.touch()
    for program, why in [(tmp_path / "none", "No such file or directory"), (not_executable, "Permission denied")]:
        done = launched(program, [])
        assert done.returncode == 69
        assert done.stderr == f"error: {program}: can't be run ({why}). Install the wheel of tiered again.\n"
