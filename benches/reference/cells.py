#!/usr/bin/env python3
"""How much of accuracy counting decides: of pairs whose plausible story has fewer, as many or more cells (entities times
sentences) than the other, how many are right. And of those whose story is right, in how many a sentence of the plausible story
reaches 1/2.

usage: cells.py PREDICTIONS.jsonl ...      (what `tiered eval` left in a run folder)
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
            beliefs = (belief for entity in pair["stories"][gold]["entities"] for belief in entity["beliefs"])
            spoiled += pair["plausible"] == gold and max(beliefs) >= 0.5
        for kind in ("fewer", "as many", "more"):
            right, wrong = counts[kind, True], counts[kind, False]
            print(f"{file}: {kind}: {right} of {right + wrong} right")
        print(f"{file}: a sentence of the plausible story reaches 1/2 in {spoiled} of {sum(n for (_, right), n in counts.items() if right)} right ones")


if __name__ == "__main__":
    main(sys.argv[1:]) if sys.argv[1:] else sys.exit(__doc__)
