#!/usr/bin/env python3
"""Writes the results tables of README.md and docs/results.md from what runs left in docs/results/.

docs/results/RUN/ holds the metrics.jsonl of a run folder and the report.json of its evaluations, copied by
`results.py --collect runs/RUN`. The tables stand between `<!-- results NAME -->` and `<!-- end -->`.

usage: results.py [--collect RUN_FOLDER]... [--check]      (--check: fail if a table is out of date)
"""
import json
import pathlib
import re
import shutil
import statistics
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


def summary():
    """Runs that differ in the seed only (RUN, RUN-seed1, RUN-seed2 ...) on every set: mean and standard deviation of
    the decoding `pair`; and the published systems beneath."""
    families = {}
    for folder in sorted(RESULTS.iterdir()):
        if folder.is_dir():
            families.setdefault(SEED.sub("", folder.name), []).append(folder)
    rows = []
    for name, title in SETS.items():
        published = {}
        for family, folders in families.items():
            files = [folder / f"{name}.json" for folder in folders]
            reports = [json.loads(file.read_text()) for file in files if file.exists()]
            published |= {row["system"]: row for report in reports for row in report["published"]}
            for states in ("argmax", "tuned"):
                chosen = [row for report in reports for row in report["rows"] if row["decoding"] == "pair"
                          and (row.get("states", "argmax") == "argmax") == (states == "argmax")]
                if chosen:
                    scores = [spread([100 * row[tier]["count"] / row[tier]["total"] for row in chosen]) for tier in TIERS]
                    rows.append([title, f"`{family}`, states {states}", str(len(chosen)), *scores])
        rows += [[title, system, "", *(f"{row[tier]:.1f}" for tier in TIERS)] for system, row in published.items()]
    return table(["set", "system", "seeds", *TIERS], rows)


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
        made = {"tiers": tiers, "summary": summary}.get(name, lambda: curves(name))()
        return f"<!-- results {name} -->\n\n{made}\n\n<!-- end -->"
    return re.sub(r"<!-- results (\S+) -->.*?<!-- end -->", fill, text, flags=re.S)


def main(arguments):
    check = "--check" in arguments
    arguments = [a for a in arguments if a != "--check"]
    while arguments[:1] == ["--collect"] and len(arguments) > 1:
        collect(pathlib.Path(arguments[1]))
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
