#!/usr/bin/env python3
"""Compares the log-probabilities of two runs of `tiered llm eval` that asked the same questions in two ways.

usage: compare_ways.py RUN RUN     prints the number of options, the largest difference, and how often another option won
"""
import json
import sys
from pathlib import Path


def scores(folder):
    """(task, story, prompt) -> log-probabilities of the options."""
    found = {}
    for path in sorted(Path(folder).glob("samples_*.jsonl")):
        task = path.name.split("_")[1]
        for line in map(json.loads, path.read_text().splitlines()):
            key = (task, line["doc"]["example_id"], line["prompt_hash"])
            found[key] = [float(score) for score, _ in line["filtered_resps"]]
    return found


if len(sys.argv) != 3:
    sys.exit("usage: compare_ways.py RUN RUN")
first, second = map(scores, sys.argv[1:])
shared = first.keys() & second.keys()
if not shared:
    sys.exit("the runs share no question")
for task in sorted({key[0] for key in shared}):
    keys = [key for key in shared if key[0] == task]
    differences = [abs(a - b) for key in keys for a, b in zip(first[key], second[key], strict=True)]
    best = [[values.index(max(values)) for values in (first[key], second[key])] for key in keys]
    print(
        f"{task}: {len(keys)} questions, {len(differences)} options, largest difference {max(differences):.4f}, "
        f"mean {sum(differences) / len(differences):.4f}, another option won in {sum(a != b for a, b in best)}"
    )
