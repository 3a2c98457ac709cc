"""A PyTorch that is only files, and a program that is a shell script."""
from __future__ import annotations

from pathlib import Path


def fake_torch(site: Path, version: str = "2.13.0+cpu", *, cuda: bool = False) -> Path:
    """A folder `torch` that can be found, and fails if it is imported."""
    torch = site / "torch"
    (torch / "lib").mkdir(parents=True)
    (torch / "__init__.py").write_text("raise AssertionError('torch was imported')\n")
    (torch / "version.py").write_text(f"__all__ = ['__version__', 'cuda']\n__version__ = '{version}'\ncuda = None\n")
    for name in ["libtorch.so", "libtorch_cpu.so", "libc10.so"] + (["libtorch_cuda.so"] if cuda else []):
        (torch / "lib" / name).touch()
    return torch


def fake_program(file: Path, script: str) -> Path:
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file
