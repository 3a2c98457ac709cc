#!/usr/bin/env python3
"""Writes the results tables of README.md and docs/results.md from what runs left in docs/results/.

docs/results/RUN/ holds the metrics.jsonl of a run folder and the report.json of its evaluations, copied by
`results.py --collect runs/RUN`; docs/results/RUN-mean/ what `tiered score` says of the mean of the run's seeds, put there by
`results.py --average runs/RUN`. The tables stand between `<!-- results NAME -->` and `<!-- end -->`; between
`<!-- study NAME -->` and `<!-- end -->` stands docs/results/studies/NAME.md, which `tiered study table --markdown` wrote.

usage: results.py [--collect RUN_FOLDER | --average RUN_FOLDER]... [--check]      (--check: fail if a table is out of date)
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
SETS = {"www-dev-all": "TRIP dev (173 pairs)", "GITA_test-test-cloze": "GITA cloze, zero-shot",
        "GITA_test-test-order": "GITA order, zero-shot"}
SEED = re.compile(r"-seed\d+$")
TIERS = ["accuracy", "consistency", "verifiability"]
Z = 1.959963984540054  # of a 95% interval


def collect(run):
    """Copies the small files of a run that the tables are made of."""
    target = RESULTS / run.name
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(run / "metrics.jsonl", target)
    for file in sorted(run.glob("eval/*/report.json")):
        report = json.loads(file.read_text())
        report["data"]["file"] = pathlib.Path(report["data"]["file"]).name  # where it lay is nobody's business
        report["system"] = f"runs/{run.name}"
        (target / f"{file.parent.name}.json").write_text(json.dumps(report, indent=1) + "\n")


def average(run):
    """Scores the mean of all seeds of a run, with the states asserted as each of them has it."""
    runs = [run, *sorted(run.parent.glob(f"{run.name}-seed*"))]
    states = {json.loads((one / "best" / "decode.json").read_text())["states"] for one in runs}
    target = RESULTS / f"{run.name}-mean"
    target.mkdir(parents=True, exist_ok=True)
    for name in SETS:
        files = [one / "eval" / name / "predictions.jsonl" for one in runs]
        ways = [word for way in ["argmax", *sorted(states)] for word in ("--states", way)]
        command = [ROOT / "target" / "release" / "tiered", "score", *files, *ways, "--json"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        report["system"] = f"mean of {len(runs)}: " + ", ".join(f"runs/{one.name}" for one in runs)
        report["rows"] = [row for row in report["rows"] if row["decoding"] != "as recorded"]
        (target / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")


def share(count, total):
    """Percent with its Wilson interval."""
    p, n = count / total, total
    centre, half = p + Z * Z / (2 * n), Z * (p * (1 - p) / n + Z * Z / (4 * n * n)) ** 0.5
    low, high = (min(max((centre + sign * half) / (1 + Z * Z / n), 0), 1) for sign in (-1, 1))
    return f"{100 * p:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def tiers():
    """Every run on every set, by its decodings, and the published systems beneath."""
    rows = []
    for name, title in SETS.items():
        published = {}
        for file in sorted(RESULTS.glob(f"*/{name}.json")):
            if SEED.search(file.parent.name):
                continue
            report = json.loads(file.read_text())
            published |= {row["system"]: row for row in report["published"]}
            for row in report["rows"]:
                scores = [share(row[tier]["count"], row[tier]["total"]) for tier in TIERS]
                states = row.get("states", "argmax")
                name = f"`{file.parent.name}`, {row['decoding']}" + (f", states {states}" if states != "argmax" else "")
                rows.append([title, name, *scores])
        rows += [[title, system, *(f"{row[tier]:.1f}" for tier in TIERS)] for system, row in published.items()]
    return table(["set", "system", *TIERS], rows)


def families():
    """Runs that differ in the seed only (RUN, RUN-seed1, RUN-seed2 ...), by the name they share; the mean of them by itself."""
    found = {}
    for folder in sorted(RESULTS.iterdir()):
        if folder.name != "studies":
            found.setdefault(SEED.sub("", folder.name), []).append(folder)
    return found


def seeds_of(family, count):
    """How many seeds stand behind the scores of a family, of which there are so many."""
    if not family.endswith("-mean"):
        return str(count)
    report = json.loads(next((RESULTS / family).glob("*.json")).read_text())
    return report["system"].split(":")[0]  # "mean of 3"


def reached(name, decoding):
    """What the runs of each family and published systems reached on a set, by a decoding of the conflict: {family: {states:
    one list of scores a seed}}, {system: scores}."""
    ours, published = {}, {}
    for family, folders in families().items():
        reports = [json.loads(file.read_text()) for folder in folders if (file := folder / f"{name}.json").exists()]
        published |= {row["system"]: [row[tier] for tier in TIERS] for report in reports for row in report["published"]}
        for row in (row for report in reports for row in report["rows"] if row["decoding"] == decoding):
            states = "argmax" if row.get("states", "argmax") == "argmax" else "tuned"
            scores = [100 * row[tier]["count"] / row[tier]["total"] for tier in TIERS]
            ours.setdefault(family, {}).setdefault(states, []).append(scores)
    return ours, published


def summary():
    """Every family on every set: mean and standard deviation; and the published systems beneath."""
    rows = []
    for name, title in SETS.items():
        ours, published = reached(name, "pair")
        for family, by_states in ours.items():
            rows += [[title, f"`{family}`, states {states}", seeds_of(family, len(seeds)), *map(spread, zip(*seeds))]
                     for states, seeds in by_states.items()]
        rows += [[title, system, "", *(f"{score:.1f}" for score in scores)] for system, scores in published.items()]
    return table(["set", "system", "seeds", *TIERS], rows)


# The systems of the README: of each family how it decodes conflicts, and whether it has seen statistics of GITA.
CHIEF = {"made-entities-e5-small": ("pair", True), "made-e5-small": ("pair", True), "joint-e5-small": ("pair", False),
         "paper-e5-small": ("threshold", True), "paper-trip-e5-small": ("threshold", False)}
CHIEF_PUBLISHED = ["DeBERTa-base, without story choice (TRIP table 2)", "XLM-R (GITA table 4)", "random (TRIP table 2)"]


def chief():
    """The README's table: a row a system, a column a set; each system by its own decoding, states by argmax."""
    rows, published = [], {}
    for family, (decoding, is_like_gita) in CHIEF.items():
        row = []
        for name in SETS:
            ours, there = reached(name, decoding)
            seeds = ours[family]["argmax"]
            mark = "*" if name == "www-dev-all" else "†" if is_like_gita else ""
            row.append(tiers_of([statistics.mean(scores) for scores in zip(*seeds)]) + mark)
            published |= {(system, name): tiers_of(scores) for system, scores in there.items()}
        rows.append([f"`{family}`, {decoding}", str(len(seeds)), *row])
    rows += [[system, "", *(published.get((system, name), "") for name in SETS)] for system in CHIEF_PUBLISHED]
    return table(["system", "seeds", *SETS.values()], rows)


def papers():
    """The papers' system by the papers' protocol: a row a system, a column a set; `threshold`, states by argmax, pairs."""
    ours, published, seeds = {}, {}, {}
    for name in SETS:
        here, there = reached(name, "threshold")
        for family, by_states in here.items():
            if family.startswith(("paper-", "trip-")):
                seeds[family] = len(by_states["argmax"])
                ours.setdefault(family, {})[name] = [statistics.mean(scores) for scores in zip(*by_states["argmax"])]
        for system, scores in there.items():
            published.setdefault(system, {})[name] = scores
    cells = lambda by_set: [tiers_of(by_set[name]) if name in by_set else "" for name in SETS]
    rows = [[f"`{family}`", str(seeds[family]), *cells(by_set)] for family, by_set in ours.items()]
    rows += [[system, "", *cells(by_set)] for system, by_set in published.items()]
    return table(["system", "seeds", *SETS.values()], rows)


def tiers_of(scores):
    return " / ".join(f"{score:.1f}" for score in scores)


def spread(scores):
    mean = f"{statistics.mean(scores):.1f}"
    return f"{mean} ± {statistics.stdev(scores):.1f}" if len(scores) > 1 else mean


def curves(run):
    """Losses and dev tiers after each epoch of a run."""
    rows = []
    for line in (RESULTS / run / "metrics.jsonl").read_text().splitlines():
        epoch = json.loads(line)
        dev = epoch["dev"]
        losses = [f"{epoch['train'][name]:.3f} / {dev['losses'][name]:.3f}"
                  for name in ("preconditions", "effects", "conflicts", "story")]
        decoded = [" / ".join(str(dev[by][tier]) for tier in ("accurate", "consistent", "verifiable"))
                   for by in ("threshold", "pair", "tuned") if by in dev]
        rows.append([str(epoch["epoch"]), *losses, *decoded, f"{epoch['train_seconds']:.0f} + {epoch['dev_seconds']:.0f}"])
    tuned = ["dev, tuned"] if "tuned" in dev else []
    return table(["epoch", "Lp train / dev", "Lf", "Lc", "Ls", "dev, threshold", "dev, pair", *tuned, "seconds"], rows)


def filled(text):
    def fill(match):
        name = match[1]
        made = {"tiers": tiers, "summary": summary, "chief": chief, "papers": papers}.get(name, lambda: curves(name))()
        return f"<!-- results {name} -->\n\n{made}\n\n<!-- end -->"
    def include(match):
        made = (RESULTS / "studies" / f"{match[1]}.md").read_text().strip()
        made = re.sub(r"^## ", "#### ", made, flags=re.M)
        return f"<!-- study {match[1]} -->\n\n{made}\n\n<!-- end -->"
    text = re.sub(r"<!-- results (\S+) -->.*?<!-- end -->", fill, text, flags=re.S)
    return re.sub(r"<!-- study (\S+) -->.*?<!-- end -->", include, text, flags=re.S)


def main(arguments):
    check = "--check" in arguments
    arguments = [a for a in arguments if a != "--check"]
    make = {"--collect": collect, "--average": average}
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
