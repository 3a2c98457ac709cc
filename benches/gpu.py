#!/usr/bin/env python3
"""Times `tiered` and two PyTorch programs on a GPU (`make bench-gpu`).

Three encoders (the config's, and the sizes of xlm-roberta-base and -large with random weights) are trained and evaluated at
several numbers of pairs a step: by `tiered`, by a good PyTorch program (reference/step.py --bf16 --distinct: autocast, fused
attention, fused AdamW, each distinct input of a step once), and as the papers' authors do (every input padded, in float32, and
the same in bf16). All take the same steps of the same model; PyTorch's programs go on from each other's weights. Writes
results/gpu.json and the tables of README.md. Needs PyTorch for CUDA and transformers.

usage: gpu.py [--device cuda] [--encoders small,base,large] [--rounds N] [--output DIR]
"""
import argparse
import gc
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "reference")]
import step  # noqa: E402
import table  # noqa: E402
from run import ROOT, SAMPLE, TIERED, WORK, run  # noqa: E402

SIZES = [1, 4, 16, 64]
PROGRAMS = {  # bf16, distinct, the largest size: the padded programs' steps are long, or too large
    "distinct_bf16": (True, True, 64),
    "padded_bf16": (True, False, 16),
    "padded_fp32": (False, False, 16),
}


def measured(encoder, device, rounds):
    """What each program does with an encoder."""
    folder, report = WORK / "reference", WORK / "tiered.json"
    size = [] if encoder == "small" else ["--encoder-size", encoder]
    data = [] if "TIERED_DATA" in os.environ else SAMPLE
    run(TIERED, "bench", "--set", f"device={device}", *data, *size, "--pairs-per-step", ",".join(map(str, SIZES)),
        "--steps", "3", "--seconds", "5", "--output", report, "--force", "--reference", folder)
    result = {"tiered": json.loads(report.read_text())}
    loaded = step.load(folder, torch.device(device))
    for name, (bf16, distinct, largest) in PROGRAMS.items():
        arguments = argparse.Namespace(bf16=bf16, distinct=distinct, device=torch.device(device), steps=None, rounds=rounds)
        sizes = [size for size in SIZES if size <= largest]
        result[name] = list(step.program(*loaded, sizes, arguments))
        gc.collect()
        torch.cuda.empty_cache()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--encoders", default="small,base,large")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("error: this Python's PyTorch sees no GPU; name another by PYTHON=... (benches/README.md)")
    os.chdir(ROOT)
    WORK.mkdir(parents=True, exist_ok=True)
    arguments.output.mkdir(parents=True, exist_ok=True)
    doctor = json.loads(subprocess.run([TIERED, "doctor", "--format=json"], capture_output=True, check=True, text=True).stdout)
    result = {
        "machine": {"cpu": doctor["cpu"]["model"] or platform.machine(), "libtorch": doctor["libtorch"]["version"], "pytorch": torch.__version__,
                    "tiered": doctor["tiered"]},
        "data": "TRIP" if "TIERED_DATA" in os.environ else "sample",
        "date": time.strftime("%Y-%m-%d"),
        "encoders": {},
    }
    for encoder in arguments.encoders.split(","):
        result["encoders"][encoder] = measured(encoder, arguments.device, arguments.rounds)
        (arguments.output / "gpu.json").write_text(json.dumps(result, indent=1) + "\n")
    print("\n" + table.gpu_text(result))
    if arguments.output == HERE / "results":
        table.main([])


if __name__ == "__main__":
    main()
