#!/usr/bin/env python3
"""How much the number of cells (entities times sentences) decides accuracy.

It prints how many pairs are right whose plausible story has fewer, as many or more cells than the other. It also prints in
how many of the right pairs a sentence of the plausible story reaches a conflict probability of 0.5.

usage: cells.py PREDICTIONS.jsonl ...      (written by `tiered eval` into a run folder)
"""
import collections
import json
import sys


def cells(story):
    return len(story["entities"]) * len(story["sentences"])


def main(files):
    for file in files:
        counts, spoiled = collections.Counter(), 0
        for line in open(file):
            pair = json.loads(line)
            gold = pair["gold_plausible"]
            plausible, other = cells(pair["stories"][gold]), cells(pair["stories"][1 - gold])
            kind = "fewer" if plausible < other else "more" if plausible > other else "as many"
            counts[kind, pair["plausible"] == gold] += 1
            conflict_probs = (conflict_prob for entity in pair["stories"][gold]["entities"] for conflict_prob in entity["conflict_probs"])
            spoiled += pair["plausible"] == gold and max(conflict_probs) >= 0.5
        for kind in ("fewer", "as many", "more"):
            right, wrong = counts[kind, True], counts[kind, False]
            print(f"{file}: {kind}: {right} of {right + wrong} right")
        print(f"{file}: a sentence of the plausible story reaches 0.5 in {spoiled} of {sum(n for (_, right), n in counts.items() if right)} right ones")


if __name__ == "__main__":
    main(sys.argv[1:]) if sys.argv[1:] else sys.exit(__doc__)
