#!/usr/bin/env python3
"""Runs `tiered bench` and the reference implementation in turns and writes the results (`make bench`).

Noise of the machine must not favour either. Both are therefore run ROUNDS times in turns, and compared by their medians.
The program writes results/bench-MAKE.json (all numbers), results/cost-MAKE.svg and the tables of README.md. MAKE is that of
the processor: amd, intel or other, and for AMD's its generation: amd-zen5.

usage: run.py [--quick] [--rounds N] [--output DIR]    --quick: only two steps each, as a test; writes into another folder
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))
import table  # noqa: E402

TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
TIERED = TARGET / "release" / "tiered"
WORK = TARGET / "bench"
PYTHON = ROOT / ".venv" / "bin" / "python"
ROUNDS = 2
SAMPLE = ["--set", "data.train.file=data/sample/en.json", "--set", "data.train.split=train",
          "--set", "data.dev.file=data/sample/en-dev.json", "--set", "data.dev.split=dev"]


def run(*command):
    print("+ " + " ".join(map(str, command)), flush=True)
    if (code := subprocess.run(command, cwd=ROOT).returncode) != 0:
        sys.exit(f"error: {pathlib.Path(command[0]).name} ended with exit code {code}")


def ours(data, *more):
    file = WORK / "tiered.json"
    run(TIERED, "bench", "--set", "device=cpu", *data, "--output", file, "--force", *more)
    return json.loads(file.read_text())


def reference(precision, quick):
    file = WORK / "reference.json"
    flags = {"fp32": [], "bf16": ["--bf16"]}[precision] + (["--steps", "1"] if quick else [])
    run(PYTHON, HERE / "reference" / "step.py", WORK / "reference", "--output", file, *flags)
    return json.loads(file.read_text())


def generation(features):
    """The generation of an AMD processor, of which later ones multiply in bfloat16 twice as fast; None for others."""
    info = pathlib.Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    family = re.search(r"^cpu family\s*: (\d+)$", text, re.M)
    if "AuthenticAMD" not in text or not family:
        return None
    return {"26": "Zen 5", "25": "Zen 4" if "avx512f" in features else "Zen 3"}.get(family[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--output", type=pathlib.Path)
    arguments = parser.parse_args()
    out = arguments.output or (WORK / "quick" if arguments.quick else HERE / "results")
    WORK.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)

    started = time.monotonic()
    data = [] if "TIERED_DATA" in os.environ else SAMPLE
    sizes = ["--pairs-per-step", "1,2" if arguments.quick else "1,2,4,8,16"]
    steps = ["--steps", "2", "--seconds", "0"] if arguments.quick else ["--seconds", "12"]
    plot = WORK / "cost.svg"
    doctor = json.loads(subprocess.run([TIERED, "doctor", "--format=json"], capture_output=True, check=True, text=True).stdout)
    rounds = []
    for _ in range(1 if arguments.quick else arguments.rounds):
        tiered = ours(data, *sizes, *steps, "--plot", plot, "--reference", WORK / "reference")
        # Nobody trains in bf16 where it is no faster: a step of the reference would take minutes.
        precisions = ("fp32", "bf16") if tiered["precision"] == "bf16" else ("fp32",)
        references = [reference(precision, arguments.quick) for precision in precisions]
        rounds.append({"tiered": tiered, "references": references})
    best = max(rounds[-1]["tiered"]["sizes"], key=lambda size: size["train"]["pairs_per_second"])["pairs_per_step"]
    base = ours(data, "--encoder-size", "base", "--pairs-per-step", str(best), "--steps", "2" if arguments.quick else "3",
                "--seconds", "0" if arguments.quick else "30")
    features = doctor["cpu"]["features"]
    machine = {"cpu": doctor["cpu"]["model"] or platform.machine(), "generation": generation(features), "cores": doctor["cpu"]["cores"], "features": features,
               "libtorch": doctor["libtorch"]["version"], "tiered": doctor["tiered"]}
    result = {"machine": machine, "data": "TRIP" if not data else "sample", "date": time.strftime("%Y-%m-%d"),
              "seconds": round(time.monotonic() - started), "rounds": rounds, "xlm_roberta_base": base}
    make = next((make for make in ("amd", "intel") if make in machine["cpu"].lower()), "other")
    if machine["generation"]:
        make += "-" + machine["generation"].lower().replace(" ", "")
    (out / f"bench-{make}.json").write_text(json.dumps(result, indent=1) + "\n")
    shutil.copy(plot, out / f"cost-{make}.svg")
    print("\n" + table.text(result))
    if out == HERE / "results":
        table.main([])


if __name__ == "__main__":
    main()
