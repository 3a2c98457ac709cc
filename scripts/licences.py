#!/usr/bin/env python3
"""Writes the licence texts of the crates that are linked into the programs, each text once.

They go into the wheel and the containers, which hold the programs without the crates' sources.
The folders of the crates must be there: `cargo build` or `cargo fetch` downloads them.

Needs the standard library and cargo.
usage: licences.py OUT_FILE
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = "x86_64-unknown-linux-gnu"
NAMES = re.compile(r"(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)
# Texts for crates whose packages have none, by the licence that they name.
OURS = [("Apache-2.0", "LICENSE-APACHE"), ("MIT", "LICENSE-MIT")]


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments, "--locked"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked():
    """`name version` of the crates in the programs: not of build scripts, macros or tests."""
    lines = cargo("tree", "--edges=normal,no-proc-macro", "--prefix=none", "--format={p}", f"--target={TARGET}").splitlines()
    return {" ".join(line.split()[:2]).replace(" v", " ") for line in lines}


def texts(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    files = sorted(file for file in folder.iterdir() if file.is_file() and NAMES.match(file.name))
    if files:
        return [file.read_text(errors="replace").strip() for file in files]
    named = package["license"] or ""
    for licence, file in OURS:
        if licence in named:
            authors = ", ".join(package["authors"]) or "its authors"
            return [f"Licence: {named}. Copyright: {authors}. The package has no text of it.", (ROOT / file).read_text().strip()]
    sys.exit(f"error: {package['name']} {package['version']} has neither a licence text nor a known licence ({named!r}); add it to {__file__}")


def main(out):
    wanted = linked()
    packages = json.loads(cargo("metadata", "--format-version=1", f"--filter-platform={TARGET}"))["packages"]
    crates = {}
    for package in packages:
        name = f"{package['name']} {package['version']}"
        if name in wanted and package["source"]:
            for text in texts(package):
                crates.setdefault(text, []).append(name)
    parts = [f"{', '.join(sorted(names))}\n\n{text}\n" for text, names in sorted(crates.items(), key=lambda item: sorted(item[1]))]
    out.write_text("Licences of the crates in tiered and tiered-torch.\n\n" + f"\n{'-' * 80}\n\n".join(parts))
    print(f"{out}: {len(wanted) - 1} crates, {len(parts)} texts, {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
