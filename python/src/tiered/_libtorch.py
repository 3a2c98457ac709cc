"""Finds the installed PyTorch of this Python, and says how the loader finds its libraries.

PyTorch is not imported: that takes seconds, and its libraries are all that `tiered` needs.
"""
from __future__ import annotations

import importlib.util
import os
import platform
import re
import sys
from pathlib import Path

TORCH = "2.13"
"""The PyTorch that the program is built for. Libraries of another minor version do not fit."""

_VERSION = re.compile(r"^__version__\b[^=\n]*=\s*['\"]([^'\"]+)['\"]", re.MULTILINE)


class SetupError(RuntimeError):
    """Something that `tiered` needs is not installed here. The message says what to install."""


def environment() -> dict[str, str]:
    """The environment of this process, in which the loader finds libtorch first in the installed PyTorch."""
    folders = [str(folder) for folder in library_folders()]
    before = os.environ.get("LD_LIBRARY_PATH")
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders + ([before] if before else []))}


def library_folders() -> list[Path]:
    """The folders of libtorch and, beside a PyTorch for CUDA, of NVIDIA's libraries."""
    _check_platform()
    libraries = _torch_folder() / "lib"
    if not (libraries / "libtorch.so").is_file():
        raise SetupError(f"{libraries} has no libtorch.so. Install PyTorch again:\n    {_install('--force-reinstall ')}")
    # PyTorch finds these by itself where they are beside it, but they may be in another folder of this Python.
    with_cuda = (libraries / "libtorch_cuda.so").is_file()
    return [libraries, *(_nvidia_folders() if with_cuda else [])]


def _check_platform() -> None:
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        raise SetupError(
            f"this package holds a program for x86-64 Linux, and this is {platform.system()} on {platform.machine()}. "
            "Build tiered from its source here (docs/install.md in the repository)."
        )


def _torch_folder() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise SetupError(f"PyTorch is not installed for {_python()}. Install it:\n    {_install()}")
    folder = Path(spec.origin).parent
    version = _torch_version(folder)
    if not version.startswith(TORCH + "."):
        raise SetupError(
            f"tiered needs PyTorch {TORCH}, and {folder} is PyTorch {version}. Install the other version:\n    {_install()}"
        )
    return folder


def _torch_version(folder: Path) -> str:
    try:
        found = _VERSION.search((folder / "version.py").read_text(encoding="utf-8"))
    except OSError as error:
        raise SetupError(f"{folder} is not a complete PyTorch ({error}). Install it:\n    {_install()}") from error
    return found.group(1) if found else "unknown"


def _nvidia_folders() -> list[Path]:
    spec = importlib.util.find_spec("nvidia")
    packages = spec.submodule_search_locations if spec else None
    return [folder for package in packages or [] for folder in sorted(Path(package).glob("*/lib")) if folder.is_dir()]


def _install(options: str = "") -> str:
    return f'pip install {options}"torch=={TORCH}.*"'


def _python() -> str:
    return sys.executable or "this Python"
