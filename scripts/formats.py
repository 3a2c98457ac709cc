#!/usr/bin/env python3
"""Makes the tables of docs/formats.md from the schemas in docs/schemas/.

usage: formats.py            write the tables
       formats.py --check    exit with 1 if they are not up to date
"""
import json
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
BEGIN, END = "<!-- tables: scripts/formats.py -->", "<!-- end of tables -->"
ORDER = [
    ("What an evaluation leaves", ["report", "stories", "prediction", "tiers", "weights", "set", "scoring"]),
    ("What commands print", ["answer", "analysis", "comparison", "compare", "finding", "stats", "annotators", "entities", "doctor", "bench"]),
    (
        "Language models",
        ["llm-scores", "agreement", "llm-run", "llm-journal", "llm-results", "llm-question", "piqa-scores", "piqa-prompt", "piqa-answer"],
    ),
    ("A run folder", ["run", "model", "origin", "average", "epoch", "event", "decode"]),
    ("A checkpoint", ["manifest", "state"]),
    ("A sweep", ["sweep-run", "failure"]),
    ("An annotation project", ["annotation"]),
    ("Export and reference implementation", ["export", "reference"]),
]
# Described once, at the head of the document: title, what it is, and a schema that has it.
SHARED = {
    "share": ("Share", "How many of some things are so.", "report"),
    "data": ("Data", "Which pairs were scored.", "report"),
    "published": ("Published", "Scores that are published of a system.", "report"),
    "losses": ("Losses", "Values of the losses.", "epoch"),
    "tiers": ("Tiers", "How many pairs reach each tier.", "epoch"),
    "asked": ("Asked", "What a language model is asked.", "llm-run"),
    "server": ("Server", "A server that runs a language model.", "llm-run"),
    "probe": ("Probe", "What the test of a server's log-probabilities showed, before anything was measured.", "llm-run"),
    "epoch": ("Epoch", None, None),
}


def resolved(schema, field):
    """The schema of a field, whether it may be null, and the name of what it refers to."""
    is_null = False
    if "anyOf" in field:
        [inner] = [part for part in field["anyOf"] if part != {"type": "null"}]
        field, is_null = {**inner, **{key: value for key, value in field.items() if key != "anyOf"}}, True
    name = field.get("$ref", "").rpartition("/")[2]
    if name:
        field = {**schema["$defs"][name], **{key: value for key, value in field.items() if key != "$ref"}}
    kinds = field.get("type", [])
    return field, is_null or "null" in kinds, name


def kind(schema, field):
    """The type in words."""
    field, is_null, name = resolved(schema, field)
    kinds = field.get("type", "integer" if "const" in field else "any")
    kinds = [one for one in kinds if one != "null"] if isinstance(kinds, list) else [kinds]
    if len(kinds) > 1:
        return " or ".join(kind(schema, {**field, "type": one}) for one in kinds) + (" or null" if is_null else "")
    [word] = kinds
    bounds = (field.get("minimum"), field.get("maximum"))
    if name in SHARED:
        word = f"[{name}](#{name})"
    elif "const" in field:
        word = f"{field['const']}"
    elif "enum" in field:
        word = "one of " + ", ".join(f"`{value}`" for value in field["enum"] if value is not None)
    elif word == "number" and bounds == (0, 1):
        word = "fraction"
    elif word == "array":
        count = f"{field['minItems']} " if field.get("minItems") and field.get("minItems") == field.get("maxItems") else ""
        word = f"list of {count}{kind(schema, field['items'])}"
    return word + (" or null" if is_null else "")


def rows(schema, of, path=""):
    """(path, type, meaning) of every field, those of inner objects beneath it."""
    for name, field in of.get("properties", {}).items():
        is_optional = name not in of["required"]
        inner, _, refers = resolved(schema, field)
        mark = " (may be absent)" if is_optional and "absent" not in inner.get("description", "") else ""
        yield f"{path}{name}", kind(schema, field), inner.get("description", "") + mark
        if refers in SHARED:
            continue
        below = f"{path}{name}"
        while "array" in inner.get("type", "") and "properties" not in inner:
            inner, _, refers = resolved(schema, inner["items"])
            below += "[]"
        values = inner.get("additionalProperties")
        if isinstance(values, dict) and values.get("properties"):
            inner, below = values, f"{below}.NAME"
        if refers not in SHARED:
            yield from rows(schema, inner, f"{below}.")


def table(schema, of):
    lines = ["| field | type | meaning |", "|---|---|---|"]
    cell = lambda text: text.replace("|", "\\|")
    return lines + [f"| `{path}` | {cell(words)} | {cell(meaning)} |" for path, words, meaning in rows(schema, of)]


def tables():
    read = lambda name: json.loads((DOCS / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    known = {path.name.removesuffix(".schema.json") for path in (DOCS / "schemas").glob("*.schema.json")}
    if known != {name for _, names in ORDER for name in names}:
        sys.exit("error: scripts/formats.py: ORDER does not name the schemas that there are")
    lines = ["## Parts", "", "Objects that several formats hold in their fields."]
    for name, (title, about, holder) in SHARED.items():
        if holder:
            lines += ["", f"### {title}", "", about, "", *table(read(holder), read(holder)["$defs"][name])]
    for title, names in ORDER:
        lines += ["", f"## {title}"]
        for name in names:
            schema = read(name)
            about = f"{schema['description']} [Schema](schemas/{name}.schema.json)."
            lines += ["", f"### {schema['title']}", "", about, "", *table(schema, schema)]
    return "\n".join(lines)


def main():
    path = DOCS / "formats.md"
    text = path.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    made = f"{head}{BEGIN}\n\n{tables()}\n\n{END}{rest.partition(END)[2]}"
    if "--check" not in sys.argv[1:]:
        path.write_text(made, encoding="utf-8")
    elif made != text:
        sys.exit("error: docs/formats.md is not up to date: run scripts/formats.py")


if __name__ == "__main__":
    main()
