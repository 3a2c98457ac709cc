#!/usr/bin/env python3
"""Trains on streamed story files of several sizes: peak memory, time to the first step, and seconds a pair.

Every run trains on the same number of pairs, drawn from all of its file. The files are synthetic; a large one repeats the
first 10,000 pairs under other numbers. Writes results/stream.json and results/stream.svg.

usage: stream.py [--pairs 10000,100000,1000000] [--trained 400] [--config FILE]
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
TIERED = TARGET / "release" / "tiered"
WORK = TARGET / "bench" / "stream"
DISTINCT = 10_000
NUMBERS = re.compile(r'^"(\d+)(-[^"]*)?": \{"story_id":\d+,(.*)"example_id":"[^"]*"')


def story_file(pairs):
    """A story file of so many pairs."""
    first = WORK / f"{DISTINCT}.json"
    if not first.exists():
        command = [TIERED, "data", "synthesize", "--lang", "en", "--style", "trip", "--seed", "1"]
        subprocess.run([*command, "--pairs", str(DISTINCT), "--output", first], check=True)
    path = WORK / f"{pairs}.json"
    if path.exists():
        return path
    head, *stories, tail = first.read_text().splitlines()
    stories = [story.rstrip(",") for story in stories]
    copies, rest = divmod(pairs, DISTINCT)
    if rest:
        sys.exit(f"error: {pairs} pairs: give a multiple of {DISTINCT}")
    unfinished = path.with_suffix(".part")
    with unfinished.open("w") as out:
        out.write(head + "\n")
        for copy in range(copies):
            def renumbered(found):
                number = int(found[1]) + copy * DISTINCT
                key = f"{number}{found[2] or ''}"
                return f'"{key}": {{"story_id":{number},{found[3]}"example_id":"{key}"'
            lines = [NUMBERS.sub(renumbered, story) for story in stories]
            out.write(",\n".join(lines) + (",\n" if copy + 1 < copies else "\n"))
        out.write(tail + "\n")
    unfinished.rename(path)
    return path


def run(*command):
    """Runs a command; returns its seconds and its peak memory in bytes."""
    start = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"error: {' '.join(map(str, command))} failed")
    return time.monotonic() - start, usage.ru_maxrss * 1024


def measure(pairs, trained, base):
    path = story_file(pairs)
    source = f'{{ file = "{path}", split = "train", streaming = true, weight = {trained / pairs} }}'
    config, out = WORK / "stream.toml", WORK / "run"
    text = re.sub(r"(?m)^train = \{.*\n(dev = .*\n)?", f"train = {source}\n", base.read_text(), count=1)
    config.write_text(re.sub(r"(?m)^epochs = .*$", "epochs = 1", text))
    shutil.rmtree(out, ignore_errors=True)
    first_step, _ = run(TIERED, "train", "--config", config, "--output", out, "--dry-run")
    _, peak = run(TIERED, "train", "--config", config, "--output", out)
    record = json.loads((out / "metrics.jsonl").read_text())
    return {
        "pairs": pairs,
        "bytes": path.stat().st_size,
        "seconds_to_first_step": first_step,
        "peak_memory": peak,
        "seconds_a_pair": record["train_seconds"] / trained,
    }


def svg(rows):
    """Two panels over the number of pairs: peak memory, and seconds to the first step."""
    def panel(x0, title, values):
        top, width, height = max(values) * 1.1, 300, 200
        text = f'<text x="{x0 + width / 2}" y="24" text-anchor="middle">{title}</text>'
        for i, (row, value) in enumerate(zip(rows, values)):
            bar = height * value / top
            x = x0 + (i + 0.25) * width / len(rows)
            middle = x + width / len(rows) / 4
            text += f'<rect x="{x}" y="{240 - bar}" width="{width / len(rows) / 2}" height="{bar}" fill="#4477aa"/>'
            text += f'<text x="{middle}" y="{232 - bar}" text-anchor="middle">{value:,.2f}</text>'
            text += f'<text x="{middle}" y="258" text-anchor="middle">{row["pairs"]:,}</text>'
        return text
    panels = [
        panel(10, "peak memory, GB", [row["peak_memory"] / 1e9 for row in rows]),
        panel(330, "seconds to the first step", [row["seconds_to_first_step"] for row in rows]),
        panel(650, "seconds a pair in training", [row["seconds_a_pair"] for row in rows]),
    ]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 290" font-family="sans-serif" font-size="13">'
        '<rect width="960" height="290" fill="white"/>' + "".join(panels)
        + '<text x="480" y="282" text-anchor="middle">pairs in the file</text></svg>\n'
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", default="10000,100000,1000000")
    parser.add_argument("--trained", type=int, default=400)
    parser.add_argument("--config", type=pathlib.Path, default=ROOT / "configs" / "joint-entities-e5-small.toml")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    rows = [measure(int(pairs), arguments.trained, arguments.config) for pairs in arguments.pairs.split(",")]
    (arguments.output / "stream.json").write_text(json.dumps(rows, indent=1) + "\n")
    (arguments.output / "stream.svg").write_text(svg(rows))
    print("| pairs | file | peak memory | seconds to the first step | seconds a pair |\n| ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        print(
            f"| {row['pairs']:,} | {row['bytes'] / 1e9:.2f} GB | {row['peak_memory'] / 1e9:.2f} GB "
            f"| {row['seconds_to_first_step']:.1f} | {row['seconds_a_pair']:.3f} |"
        )


if __name__ == "__main__":
    main()
