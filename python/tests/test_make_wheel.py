"""What scripts/make-wheel.py promises about the wheel that is installed here."""
from __future__ import annotations

import os
import runpy
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tiered._launcher import PROGRAM

PROGRAMS = [PROGRAM, PROGRAM.with_name("tiered-torch")]
MAKE_WHEEL = runpy.run_path(str(Path(__file__).resolve().parents[2] / "scripts/make-wheel.py"))


@pytest.mark.parametrize(
    ("needed", "minor"),
    [
        ({"GLIBC": (2, 17)}, 28),
        ({"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24)}, 28),
        ({"GLIBC": (2, 28), "GLIBCXX": (3, 4, 29)}, 34),
        ({"GLIBC": (2, 35), "GLIBCXX": (3, 4, 26), "CXXABI": (1, 3, 9), "GCC": (4, 2, 0)}, 35),
        ({"GLIBC": (2, 36)}, 38),
    ],
)
def test_the_tag_is_the_oldest_linux_that_has_all_symbols(needed: dict[str, tuple[int, ...]], minor: int) -> None:
    assert MAKE_WHEEL["platform_tag"](needed) == f"manylinux_2_{minor}_x86_64"


def test_newer_symbols_than_any_known_linux_are_refused() -> None:
    with pytest.raises(SystemExit, match="newer symbols"):
        MAKE_WHEEL["platform_tag"]({"GLIBC": (2, 99)})


def test_the_installed_wheel_has_the_tag_of_its_programs() -> None:
    tag = MAKE_WHEEL["platform_tag"](MAKE_WHEEL["needed_symbols"](PROGRAMS))
    assert f"Tag: py3-none-{tag}\n" in (distribution("tiered").read_text("WHEEL") or "")


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_programs_name_no_folder_of_the_machine_that_built_them(program: Path) -> None:
    headers = MAKE_WHEEL["output"]("objdump", "-p", program)
    assert "NEEDED" in headers and ("libtorch.so" in headers) == (program.name == "tiered-torch")
    assert "RPATH" not in headers and "RUNPATH" not in headers


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_programs_are_stripped_and_executable(program: Path) -> None:
    assert os.access(program, os.X_OK)
    assert ".symtab" not in MAKE_WHEEL["output"]("objdump", "-h", program)
    assert MAKE_WHEEL["output"]("objdump", "-t", program).strip().endswith("no symbols")


def test_the_wheel_has_the_licences_of_the_crates_in_its_programs() -> None:
    text = distribution("tiered").read_text("licenses/LICENSES-OF-CRATES") or ""
    for crate in ("clap", "tch", "tokenizers", "torch-sys"):
        assert f"{crate} " in text
    assert "Permission is hereby granted" in text and "Apache License" in text
