#!/usr/bin/env python3
"""Writes the tables of README.md and docs/results.md from the files in docs/results/.

docs/results/RUN/ contains the metrics.jsonl of a run folder and the report.json of its evaluations, copied by
`results.py --collect runs/RUN`. docs/results/RUN-ensemble/ contains the output of `tiered score` for the ensemble of the run's
seeds, written by `results.py --ensemble runs/RUN`. docs/results/sweeps/NAME.md is the output of `tiered sweep table --format
markdown`.

A page has a table between `<!-- results NAME -->` and `<!-- end -->`. NAME is `chief` (the README's), `papers` (every system by the papers'
protocol), `pair` (every system, conflicts by `pair`) or `ensembles`. Between `<!-- sweep NAME -->` and `<!-- end -->` are the
rows of docs/results/sweeps/NAME.md without its differences. There may be several names, and NAME:DECODING selects the rows of one
decoding.

usage: results.py [--collect RUN_FOLDER | --ensemble RUN_FOLDER]... [--check]      (--check: fail if a table is out of date)
"""
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
PAGES = [ROOT / "README.md", ROOT / "docs" / "results.md"]
TRIP_DEV = "www-dev-all"
SETS = {TRIP_DEV: "TRIP dev", "GITA_test-test-cloze": "GITA cloze",
        "GITA_test-test-order": "GITA order"}
SEED = re.compile(r"-seed\d+$")
TIERS = ["accuracy", "consistency", "verifiability"]
NONE = "–"

# Systems whose training data include synthetic stories in the style of GITA, by its statistics.
SAW_STATISTICS_OF_GITA = ("best", "distilled", "story-", "bilingual", "translated", "synthetic-", "paper-e5-small", "joint-sentences-e5-small")
# Systems whose training data include synthetic stories in Italian.
READ_ITALIAN = ("best", "distilled", "story-", "bilingual", "translated")
# Systems that learn from synthetic stories before TRIP, and beside it. All of them also read reordered pairs of TRIP train.
SYNTHETIC_BEFORE = ("best", "distilled", "story-", "bilingual", "english", "translated")
SYNTHETIC_BESIDE = ("synthetic-", "paper-e5-small", "joint-sentences-e5-small")
# Systems that were scored when a sentence pair's probability was still split among its entities, which by `threshold` loses conflicts.
SPLIT_AMONG_ENTITIES = ("joint-sentences-e5-small", "synthetic-entities-e5-small")


def collect(run):
    """Copies the small files of a run that we keep."""
    reports = sorted(run.glob("eval/*/report.json"))
    if not reports:
        sys.exit(f"error: {run} has no evaluations; name a run folder, and make them with: tiered eval")
    target = RESULTS / run.name
    target.mkdir(parents=True, exist_ok=True)
    if (metrics := run / "metrics.jsonl").exists():  # an average of runs has none
        shutil.copy(metrics, target)
    for file in reports:
        report = json.loads(file.read_text())
        report["data"]["file"] = pathlib.Path(report["data"]["file"]).name  # the folder may be private
        report["system"] = f"runs/{run.name}"
        (target / f"{file.parent.name}.json").write_text(json.dumps(report, indent=1) + "\n")


def ensemble(run):
    """Scores the ensemble of all seeds of a run, with states predicted as for each of them."""
    runs = [one for one in (run, *sorted(run.parent.glob(f"{run.name}-seed*"))) if one.is_dir()]
    if not runs:
        sys.exit(f"error: neither {run} nor {run}-seed... is there; name runs that differ in their seed only")
    if len(runs) != 3:
        sys.exit(f"error: {run} and {run}-seed... are {len(runs)} runs; the table of ensembles is of three seeds each")
    uncalibrated = [one for one in runs if not (one / "best" / "decode.json").is_file()]
    if uncalibrated:
        sys.exit(f"error: {uncalibrated[0]}: has no best/decode.json; `tiered model calibrate` makes it")
    states, *others = {json.loads((one / "best" / "decode.json").read_text())["states"] for one in runs}
    if others:
        sys.exit(f"error: the seeds of {run} predict states in several ways ({', '.join([states, *others])}); the table shows one")
    target = RESULTS / f"{run.name}-ensemble"
    target.mkdir(parents=True, exist_ok=True)
    for name in SETS:
        files = [one / "eval" / name / "predictions.jsonl" for one in runs]
        ways = [word for way in ["argmax", states] for word in ("--states", way)]
        command = [ROOT / "target" / "release" / "tiered", "score", *files, *ways, "--format=json"]
        scored = subprocess.run(command, stdout=subprocess.PIPE)
        if scored.returncode != 0:
            sys.exit(f"error: tiered score failed on the predictions of {name}; its message is above")
        report = json.loads(scored.stdout)
        report["system"] = f"ensemble of {len(runs)}: " + ", ".join(f"runs/{one.name}" for one in runs)
        report["rows"] = [row for row in report["rows"] if row["decoding"] != "as recorded"]
        (target / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def families(ensembles=False):
    """Runs that differ only in the seed (RUN, RUN-seed1, RUN-seed2 ...), by their common name; or the ensembles."""
    found = {}
    for folder in sorted(RESULTS.iterdir()):
        if folder.is_dir() and folder.name != "sweeps" and folder.name.endswith("-ensemble") == ensembles:
            found.setdefault(SEED.sub("", folder.name), []).append(folder)
    return found


def reached(name, decoding, ensembles=False):
    """The results of each family of runs on a set, by a decoding of the conflict: {family: {"argmax" or "calibrated": one result per
    seed}}; and the published scores, in percent."""
    ours, published = {}, {}
    for family, folders in families(ensembles).items():
        for report in (json.loads(file.read_text()) for folder in folders if (file := folder / f"{name}.json").exists()):
            published |= {row["system"]: [row[tier] for tier in TIERS] for row in report["published"]}
            for row in (row for row in report["rows"] if row["decoding"] == decoding):
                is_argmax = row.get("states", "argmax") == "argmax"
                states = row.get("predicted_states", report["states"]["predicted_states"] if is_argmax else None)
                result = {tier: percent(row[tier]) for tier in TIERS} | shares(states)
                ours.setdefault(family, {}).setdefault("argmax" if is_argmax else "calibrated", []).append(result)
    return ours, published


def percent(score):
    return None if score["fraction"] is None else 100 * score["fraction"]


def shares(states):
    """The number of predicted states as a share of the gold ones, and their F1 in percent."""
    predicted, correct, gold = (states[key] for key in ("predicted", "correct", "gold"))
    return {"predicted": predicted / gold, "f1": 100 * 2 * correct / (predicted + gold)}


def mean(results, key, digits=1):
    values = [result[key] for result in results]
    return NONE if None in values or not values else f"{statistics.mean(values):.{digits}f}"


def spread(results, key):
    values = [result[key] for result in results]
    both = mean(results, key)
    return both if both == NONE or len(values) == 1 else f"{both} ± {statistics.stdev(values):.1f}"


def means(results):
    return " / ".join(mean(results, tier) for tier in TIERS)


def dagger(family, name):
    """The marks of a score on GITA."""
    marks = {"†": SAW_STATISTICS_OF_GITA, "‡": READ_ITALIAN}
    return "" if name == TRIP_DEV else "".join(mark for mark, families in marks.items() if family.startswith(families))


def trained_on(family):
    """What a system of ours is trained on, in words."""
    if family == "distilled":
        return "as `best-earlier`, and predictions of three of its seeds"
    if family == "translated":
        return "synthetic stories, then TRIP in English and Italian"
    if family.startswith(SYNTHETIC_BEFORE):
        return "synthetic stories, then TRIP"
    return "TRIP and synthetic stories" if family.startswith(SYNTHETIC_BESIDE) else "TRIP"


def by_threshold(family):
    """The name of a system in a table of conflicts by `threshold`."""
    return f"`{family}`" + ("§" if family in SPLIT_AMONG_ENTITIES else "")


# The systems of the README, and how each decodes conflicts.
CHIEF = ["best", "bilingual", "translated", "english", "story-e5-small", "synthetic-entities-e5-small", "joint-e5-small", "paper-e5-small",
         "paper-trip-e5-small"]
CHIEF_PUBLISHED = ["DeBERTa-base, without story choice (TRIP table 2)", "XLM-R (GITA table 4)", "random (TRIP table 2)"]


def chief():
    """The README's table, by the papers' protocol: one row per system, one column per set."""
    rows, published = [], {}
    for family in CHIEF:
        row, seeds = [], []
        for name in SETS:
            ours, there = reached(name, "threshold")
            scored = ours.get(family, {}).get("argmax", [])
            seeds = scored or seeds
            row.append(means(scored) + ("*" if name == TRIP_DEV else dagger(family, name)) if scored else "")
            published |= {(system, name): plain(scores) for system, scores in there.items()}
        rows.append([by_threshold(family), trained_on(family), str(len(seeds)), *row])
    rows += [[system, "", "", *(published.get((system, name), "") for name in SETS)] for system in CHIEF_PUBLISHED]
    return table(["system", "trained on", "seeds", *SETS.values()], rows)


def plain(scores):
    return " / ".join(f"{score:.1f}" for score in scores)


def papers():
    """Every system by the papers' protocol (`threshold`, states by argmax): one row per system, one column per set."""
    cells, published, seeds = {}, {}, {}
    for name in SETS:
        ours, there = reached(name, "threshold")
        for family, by_states in ours.items():
            results = by_states["argmax"]
            seeds[family] = str(len(results))
            mark = "*" if name == TRIP_DEV else dagger(family, name)
            cells.setdefault(family, {})[name] = " / ".join(spread(results, tier) for tier in TIERS) + mark
        for system, scores in there.items():
            published.setdefault(system, {})[name] = plain(scores)
    line = lambda system, data, count, by_set: [system, data, count, *(by_set.get(name, "") for name in SETS)]
    rows = [line(by_threshold(family), trained_on(family), seeds[family], by_set) for family, by_set in cells.items()]
    rows += [line(system, "", "", by_set) for system, by_set in published.items()]
    return table(["system", "trained on", "seeds", *SETS.values()], rows)


STATES = ["predicted / gold", "F1 of states"]
BY_PAIR = ["accuracy", "consistency", "verifiability, argmax", *STATES, "verifiability, calibrated", *STATES]


def scores_by_pair(by_states):
    """The columns of BY_PAIR."""
    argmax, calibrated = by_states["argmax"], by_states.get("calibrated", [])
    of = lambda results: [spread(results, "verifiability"), mean(results, "predicted", 2), mean(results, "f1")]
    return [spread(argmax, "accuracy"), spread(argmax, "consistency"), *of(argmax), *of(calibrated)]


def pair():
    """Every system on every set, conflicts by `pair`."""
    return by_pair("system", "seeds", lambda family, by_states: [family, str(len(by_states["argmax"]))], False)


def ensembles():
    """Every ensemble on every set, conflicts by `pair`."""
    return by_pair("ensemble of", "", lambda family, _: [family.removesuffix("-ensemble"), "3 seeds"], True)


def by_pair(of, count, named, of_ensembles):
    rows = []
    for name, title in SETS.items():
        for family, by_states in reached(name, "pair", of_ensembles)[0].items():
            system, seeds = named(family, by_states)
            rows.append([title + ("*" if name == TRIP_DEV else ""), f"`{system}`{dagger(family, name)}", seeds, *scores_by_pair(by_states)])
    return table(["set", of, count, *BY_PAIR], rows)


SWEEP_SETS = {"trip-dev": "TRIP dev*", "trip-order-dev": "TRIP dev, reordered*", "gita-cloze": "GITA cloze", "gita-order": "GITA order"}
SWEEP_HEADING = re.compile(r"^## (\S+): \d+ pairs in \d+ groups, decoded by (\w+), states (.+)$")
SWEEP_ROW = re.compile(r"^\| \d+ [^|]+ \| \d+( of \d+)? \|")
# Rows that are only in a sweep's own file: the sweep, the beginning of the set, a part of the row's name.
LEFT_OUT = [("synthetic-stories", "trip-order", ""), ("losses-e5-small", "gita", "paper /")]


def sweep(*names):
    """The rows of sweeps (NAME or NAME:DECODING): mean ± standard deviation [bootstrap interval], without differences and published
    rows. If all pairs or no pair reaches a tier, the sweep has another kind of interval, which is left out."""
    rows, ways = [], set()
    for name, _, decoding in (name.partition(":") for name in names):
        for line in (RESULTS / "sweeps" / f"{name}.md").read_text().splitlines():
            if heading := SWEEP_HEADING.match(line):
                where, by, states = heading.groups()
                is_shown = decoding in ("", by)
                ways |= {states} if is_shown else set()
            elif is_shown and SWEEP_ROW.match(line):
                row, seeds, *scores = (cell.strip() for cell in line.strip("| ").split("|"))
                if any(name == left and where.startswith(of) and of_row in row for left, of, of_row in LEFT_OUT):
                    continue
                mark = "†" if where.startswith("gita") and "synthetic" in row else ""
                scores = [re.sub(r"^((0|100)\.0( ± 0\.0)?) \[.*", r"\1", score) for score in scores[:3]]
                rows.append([name if len(names) > 1 else SWEEP_SETS[where] + mark, row, seeds, *scores])
    (states,) = ways
    verifiability = "verifiability, " + ("argmax" if states == "argmax" else "calibrated")
    return table(["sweep" if len(names) > 1 else "set", "row", "seeds", "accuracy", "consistency", verifiability], rows)


TABLES = {"chief": chief, "papers": papers, "pair": pair, "ensembles": ensembles}


def filled(text):
    def fill(match):
        kind, name, *rest = match[1].split()
        made = TABLES[name](*rest) if kind == "results" else sweep(name, *rest)
        return f"<!-- {match[1]} -->\n\n{made}\n\n<!-- end -->"
    return re.sub(r"<!-- ((?:results|sweep) [^>]+?) -->.*?<!-- end -->", fill, text, flags=re.S)


def main(arguments):
    check = "--check" in arguments
    arguments = [a for a in arguments if a != "--check"]
    make = {"--collect": collect, "--ensemble": ensemble}
    while arguments and arguments[0] in make and len(arguments) > 1:
        make[arguments[0]](pathlib.Path(arguments[1]))
        arguments = arguments[2:]
    if arguments:
        sys.exit(__doc__)
    for page in PAGES:
        old = page.read_text()
        new = filled(old)
        if check and new != old:
            sys.exit(f"{page}: its tables are out of date; run scripts/results.py")
        if not check:
            page.write_text(new)


if __name__ == "__main__":
    main(sys.argv[1:])
