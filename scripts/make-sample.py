#!/usr/bin/env python3
"""Compile the sample stories: data/sample/en-*.txt to en.json, it-*.txt to it.json.

A source file holds groups of stories, with blank lines between them; lines that start with # are comments.

    group train 12 | actor=Nora | room=kitchen
    1 Nora opened the fridge. | Nora: | fridge: open=4 power=2
    2 Nora took the milk out of the fridge. | Nora: | milk: location=7 | fridge: open=2 contain=8
    ...
    cloze 1 conflict 1-2 on fridge.open | Nora closed the fridge. | Nora: | fridge: open=3
    order 1 2 conflict 1-2 on fridge.open

group PARTITION NUMBER | actor=NAME | room=ROOM
    Opens a group. Its plausible story gets the id NUMBER.
N SENTENCE | ENTITY: ATTRIBUTE=LABEL ... | ...
    Sentence N of the plausible story, from 1 on, with every entity it mentions and the labels that differ
    from the default (2 for conscious, exist, functional and moveable, else 0). The actor has the 5
    attributes of people, every other entity the 15 of objects.
cloze N conflict E-B on ENTITY.ATTRIBUTE | SENTENCE | ENTITY: ...
    An implausible story, NUMBER-C0 (then -C1 and so on): sentence N is replaced.
order I J conflict E-B on ENTITY.ATTRIBUTE
    An implausible story, NUMBER-O0 (then -O1 and so on): sentences I and J are swapped, labels and all.

E is the evidence and B the breakpoint, the two sentences that conflict, counted in the implausible story.
After `on` stands what they conflict about: a nontrivial effect of the evidence or precondition of the breakpoint.

Refused, with file and line: unknown attributes, labels out of range, sentences or conflicts out of place, an
entity mentioned but not annotated or annotated but not mentioned, an evidence without a nontrivial effect, a
breakpoint without a nontrivial precondition. `train` and `test` must have a nontrivial label of each attribute.

usage: make-sample.py [--check]      (--check: write nothing; fail if a JSON file is out of date)
"""
import collections
import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "sample"
LANGUAGES = {"en": ["train", "dev"], "it": ["test"]}
COMPLETE = ["train", "test"]  # partitions in which each attribute must have a nontrivial label

PERSON = ["h_location", "conscious", "wearing", "h_wet", "hygiene"]
OBJECT = ["location", "exist", "clean", "power", "functional", "pieces", "wet", "open", "temperature",
          "solid", "contain", "running", "moveable", "mixed", "edible"]
ATTRIBUTES = PERSON + OBJECT
DEFAULT = {"conscious": 2, "exist": 2, "functional": 2, "moveable": 2}
# (precondition, effect) of the labels 0..8: 0 unknown, 1 false, 2 true. The locations keep the label for both.
SPLIT = [(0, 0), (1, 1), (2, 2), (2, 1), (1, 2), (0, 1), (0, 2), (1, 0), (2, 0)]
PRECONDITION, EFFECT = 0, 1

GROUP = re.compile(r"group (\w+) (\d+) \| actor=([^|]+) \| room=([^|]+)")
SENTENCE = re.compile(r"(\d+) (.+)")
CLOZE = re.compile(r"cloze (\d+) conflict (\d+)-(\d+) on ([^|]+)\.(\w+) \| (.+)")
ORDER = re.compile(r"order (\d+) (\d+) conflict (\d+)-(\d+) on ([^|]+)\.(\w+)")

Sentence = collections.namedtuple("Sentence", "text entities")  # entities: name -> {attribute: label}
Group = collections.namedtuple("Group", "place partition number actor room sentences variants")
Variant = collections.namedtuple("Variant", "place kind idx sentences evidence breakpoint")  # both 0-based


class Problem(Exception):
    """A mistake in a source file; the place is put before it."""


def attributes(entity, actor):
    return PERSON if entity == actor else OBJECT


def nontrivial(attribute, value):
    """Of a label, or of the class of one side."""
    return value > 0 and value != DEFAULT.get(attribute, 0)


def side(entities, entity, attribute, which):
    """The class of one side of a label; 0 if the entity has none."""
    if entity not in entities:
        return 0
    label = entities[entity].get(attribute, DEFAULT.get(attribute, 0))
    return label if attribute.endswith("location") else SPLIT[label][which]


def has_nontrivial(sentence, which):
    return any(nontrivial(attribute, side(sentence.entities, entity, attribute, which))
               for entity, labels in sentence.entities.items() for attribute in labels)


def parse_label(word, entity, actor):
    match = re.fullmatch(r"(\w+)=(\d+)", word)
    if not match:
        raise Problem(f"{entity}: `{word}` is not ATTRIBUTE=LABEL")
    attribute, label = match[1], int(match[2])
    if attribute not in attributes(entity, actor):
        known = "not one of the 20 attributes" if attribute not in ATTRIBUTES else "an attribute of the other kind of entity"
        raise Problem(f"{entity}: `{attribute}` is {known}")
    top = 2 if attribute == "h_location" else 8
    if label > top:
        raise Problem(f"{entity}: {attribute}={label} is not in 0..{top}")
    if label == DEFAULT.get(attribute, 0):
        raise Problem(f"{entity}: {attribute}={label} is the default; leave it out")
    return attribute, label


def parse_sentence(line, actor):
    text, *fields = line.split(" | ")
    if not re.fullmatch(r"[^\W\d_].*[.!?]", text) or text != text.strip() or "|" in text or ":" in text:
        raise Problem(f"`{text}` is not a sentence")
    entities = {}
    for field in fields:
        entity, colon, labels = field.partition(":")
        if not colon or not entity or entity != entity.strip():
            raise Problem(f"`{field}` is not ENTITY: LABELS")
        if entity in entities:
            raise Problem(f"{entity} is named twice")
        if entity != actor and entity != entity.lower():
            raise Problem(f"{entity} is neither the actor nor in lower case")
        pairs = [parse_label(word, entity, actor) for word in labels.split()]
        entities[entity] = dict(pairs)
        if len(entities[entity]) != len(pairs):
            raise Problem(f"{entity} has two labels of one attribute")
    if not entities:
        raise Problem("no entity is annotated")
    return Sentence(text, entities)


def index(number, sentences):
    if not 1 <= int(number) <= len(sentences):
        raise Problem(f"there is no sentence {number}; the story has {len(sentences)}")
    return int(number) - 1


def check_conflict(sentences, evidence, breakpoint, entity, attribute):
    if evidence >= breakpoint:
        raise Problem(f"the evidence ({evidence + 1}) must come before the breakpoint ({breakpoint + 1})")
    before, after = sentences[evidence], sentences[breakpoint]
    if not has_nontrivial(before, EFFECT):
        raise Problem(f"the evidence `{before.text}` has no nontrivial effect")
    if not has_nontrivial(after, PRECONDITION):
        raise Problem(f"the breakpoint `{after.text}` has no nontrivial precondition")
    if attribute not in ATTRIBUTES:
        raise Problem(f"`{attribute}` is not one of the 20 attributes")
    effect = side(before.entities, entity, attribute, EFFECT)
    precondition = side(after.entities, entity, attribute, PRECONDITION)
    if not nontrivial(attribute, effect) and not nontrivial(attribute, precondition):
        raise Problem(f"{entity}.{attribute} is neither a nontrivial effect of `{before.text}` "
                      f"nor a nontrivial precondition of `{after.text}`")


def parse_variant(line, place, group):
    """A cloze or order line."""
    sentences = list(group.sentences)
    if match := CLOZE.fullmatch(line):
        kind, differing = "cloze", 1
        replaced, evidence, breakpoint, entity, attribute, rest = match.groups()
        sentences[index(replaced, sentences)] = parse_sentence(rest, group.actor)
    elif match := ORDER.fullmatch(line):
        kind, differing = "order", 2
        *swapped, evidence, breakpoint, entity, attribute = match.groups()
        i, j = (index(number, sentences) for number in swapped)
        sentences[i], sentences[j] = sentences[j], sentences[i]
    else:
        raise Problem("this is no group, sentence, cloze or order line")
    if sum(a.text != b.text for a, b in zip(sentences, group.sentences)) != differing:
        raise Problem(f"{kind} stories differ from the plausible one in exactly {differing} sentence(s)")
    evidence, breakpoint = index(evidence, sentences), index(breakpoint, sentences)
    check_conflict(sentences, evidence, breakpoint, entity, attribute)
    idx = sum(variant.kind == kind for variant in group.variants)
    return Variant(place, kind, idx, sentences, evidence, breakpoint)


def parse_file(path, partitions):
    """The groups of one source file, and its problems as lines of text; a group with a bad sentence is left out."""
    groups, problems, group, skipping = [], [], None, False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        place = f"{path.name}:{number}"
        try:
            if line != line.strip():
                raise Problem("space at an end of the line")
            if not line:
                group, skipping = None, False
            elif skipping or line.startswith("#"):
                pass
            elif match := GROUP.fullmatch(line):
                if group:
                    raise Problem("no blank line before this group")
                if match[1] not in partitions:
                    raise Problem(f"partition {match[1]}, but this language has {', '.join(partitions)}")
                group = Group(place, match[1], int(match[2]), match[3], match[4], [], [])
                groups.append(group)
            elif not group:
                raise Problem("this line belongs to no group")
            elif match := SENTENCE.fullmatch(line):
                if group.variants or int(match[1]) != len(group.sentences) + 1:
                    raise Problem(f"sentence {match[1]} is out of place")
                group.sentences.append(parse_sentence(match[2], group.actor))
            else:
                group.variants.append(parse_variant(line, place, group))
        except Problem as problem:
            problems.append(f"{place}: {problem}")
            if not line.startswith(("cloze", "order")):
                skipping = True
                if group in groups:
                    groups.remove(group)
    return groups, problems


def mentions(text, names):
    """Those of the names that stand in the text as words of their own, longer names first."""
    found, text = set(), text.lower()
    for name in sorted(names, key=len, reverse=True):
        text, count = re.subn(rf"\b{re.escape(name.lower())}\b", "_", text)
        if count:
            found.add(name)
    return found


def check_groups(groups):
    """Problems of whole groups: their size, their numbers, and entities that are mentioned but not annotated."""
    problems, seen = [], {}
    for group in groups:
        if len(group.sentences) not in (5, 6):
            problems.append(f"{group.place}: {len(group.sentences)} sentences, not 5 or 6")
        if not group.variants:
            problems.append(f"{group.place}: no implausible story")
        if group.number in seen:
            problems.append(f"{group.place}: group {group.number} is already at {seen[group.number]}")
        seen[group.number] = group.place
        stories = [(group.place, group.sentences)] + [(v.place, v.sentences) for v in group.variants]
        names = {name for _, sentences in stories for sentence in sentences for name in sentence.entities}
        for place, sentences in stories:
            for sentence in sentences:
                missing = mentions(sentence.text, names) - set(sentence.entities)
                unsaid = set(sentence.entities) - mentions(sentence.text, names)
                problems += [f"{place}: `{sentence.text}` mentions {name}, which is not annotated" for name in missing]
                problems += [f"{place}: `{sentence.text}` does not mention {name}, which is annotated" for name in unsaid]
    return list(dict.fromkeys(problems))


def state_row(entities, actor):
    """attribute -> [entity, label] pairs: every attribute of every entity of one sentence."""
    return {attribute: [[entity, labels.get(attribute, DEFAULT.get(attribute, 0))]
                        for entity, labels in entities.items() if attribute in attributes(entity, actor)]
            for attribute in ATTRIBUTES}


def story(group, variant=None):
    sentences = variant.sentences if variant else group.sentences
    objects = {entity for sentence in sentences for entity in sentence.entities} - {group.actor}
    conflict = [variant.evidence, variant.breakpoint] if variant else None
    return {
        "story_id": group.number,
        "worker_id": "",
        "type": variant.kind if variant else None,
        "idx": variant.idx if variant else None,
        "aug": False,
        "actor": group.actor,
        "location": group.room,
        "objects": ", ".join(sorted(objects)),
        "sentences": [sentence.text for sentence in sentences],
        "length": len(sentences),
        "example_id": f"{group.number}-{variant.kind[0].upper()}{variant.idx}" if variant else str(group.number),
        "plausible": variant is None,
        "breakpoint": variant.breakpoint if variant else -1,
        "confl_sents": [variant.evidence] if variant else [],
        "confl_pairs": [conflict] if variant else [],
        "states": [state_row(sentence.entities, group.actor) for sentence in sentences],
    }


def compile_stories(groups, partitions):
    """partition -> stories, by the number of the group; plausible, then cloze, then order."""
    compiled = {}
    for partition in partitions:
        chosen = sorted((group for group in groups if group.partition == partition), key=lambda group: group.number)
        if chosen:
            compiled[partition] = [
                made for group in chosen
                for made in [story(group), *(story(group, v) for v in sorted(group.variants, key=lambda v: (v.kind, v.idx)))]]
    return compiled


def count_nontrivial(stories):
    """attribute -> number of nontrivial labels."""
    return {attribute: sum(nontrivial(attribute, label) for made in stories for row in made["states"]
                           for _, label in row[attribute])
            for attribute in ATTRIBUTES}


def to_json(compiled):
    """One story a line, so that differences can be read."""
    def line(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    parts = [f"{line(partition)}:{{\n" + ",\n".join(f"{line(made['example_id'])}:{line(made)}" for made in stories) + "\n}"
             for partition, stories in compiled.items()]
    return "{" + ",\n".join(parts) + "}\n"


def print_counts(partitions):
    kinds = {"plausible": None, "cloze": "cloze", "order": "order"}
    rows = [["", *partitions],
            ["groups", *(len({made["story_id"] for made in stories}) for stories in partitions.values())],
            ["stories", *map(len, partitions.values())]]
    rows += [[f"  {name}", *(sum(made["type"] == kind for made in stories) for stories in partitions.values())]
             for name, kind in kinds.items()]
    counts = [count_nontrivial(stories) for stories in partitions.values()]
    rows += [["nontrivial labels", *(sum(count.values()) for count in counts)]]
    rows += [[f"  {attribute}", *(count[attribute] for count in counts)] for attribute in ATTRIBUTES]
    for name, *numbers in rows:
        print(f"{name:<18}" + "".join(f"{number:>7}" for number in numbers))


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: make-sample.py [--check]")
    check_only = bool(sys.argv[1:])
    problems, outputs, partitions = [], {}, {}
    for language, names in LANGUAGES.items():
        groups = []
        for path in sorted(FOLDER.glob(f"{language}-*.txt")):
            parsed, found = parse_file(path, names)
            groups += parsed
            problems += found
        problems += check_groups(groups)
        compiled = compile_stories(groups, names)
        partitions.update(compiled)
        outputs[FOLDER / f"{language}.json"] = to_json(compiled)
    for partition in () if problems else COMPLETE:
        missing = [a for a, count in count_nontrivial(partitions.get(partition, [])).items() if not count]
        if missing:
            problems.append(f"{partition}: no nontrivial label of {', '.join(missing)}")
    for path, text in outputs.items():
        if check_only and (not path.exists() or path.read_text(encoding="utf-8") != text):
            problems.append(f"{path.name} is out of date: run {pathlib.Path(__file__).name}")
    if problems:
        sys.exit("\n".join(f"error: {problem}" for problem in problems))
    if not check_only:
        for path, text in outputs.items():
            path.write_text(text, encoding="utf-8")
    print_counts(partitions)


if __name__ == "__main__":
    main()
