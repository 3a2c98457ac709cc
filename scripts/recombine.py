#!/usr/bin/env python3
"""Make unlabelled pairs from stories in TRIP's format: a sentence of a plausible story is replaced by one of another story.

The new sentence names a thing that the rest of the story names too. It is about the story's actor: their name replaces the
other one, and a sentence with a pronoun comes from a story about a person of the same sex. Some new sentences repeat one of
the story. Whether the new story is possible is not known. Only because a story file needs this, it is called implausible,
with a conflict between the new sentence and the first one that shares a thing with it. There are no state labels, so that
nobody trains on the pairs without soft labels (docs/recipes.md).

usage: recombine.py FILE SPLIT PAIRS OUT      (a story file with labels, one of its splits, how many pairs, the new story file to write)
"""
import itertools
import json
import random
import re
import sys

import story_file
from encoder_folder import fail

# The actors of TRIP's train split, by sex.
WOMEN = {"Ann", "Jill", "Mary", "Sally"}
MEN = {"Brad", "Jimmy", "John", "Lee", "Mike", "Paul", "Ryan", "Sam", "Tom", "Tom's friend"}
PRONOUN = re.compile(r"\b(he|she|his|her|him|hers|himself|herself)\b", re.I)


def people(states):
    return [name for name, _ in states.get("conscious", [])]


def things(states):
    return [name for name, _ in states.get("exist", [])]


def is_plausible(key, story):
    """As `tiered` decides: by the breakpoint. Where two other things call a story implausible, its breakpoint is missing."""
    doubts = [
        re.fullmatch("[^-]*-[CO][0-9]*", key), story.get("type"), story.get("plausible") is False,
        re.search("[0-9]", json.dumps(story.get("confl_sents"))),
    ]  # fmt: skip
    return story.get("breakpoint", -1) == -1 and sum(map(bool, doubts)) < 2


def has_one_person(story):
    return all(set(people(states)) <= {story["actor"]} for states in story["states"])


def sentences(stories):
    """The different sentences of each group of stories that are about the actor alone: (group, actor, text, things)."""
    found = {}
    for story in stories:
        for text, states in zip(story["sentences"], story["states"]):
            if set(people(states)) <= {story["actor"]} and story["actor"] in text:
                found.setdefault((story["story_id"], text), (story["story_id"], story["actor"], text, things(states)))
    return list(found.values())


def candidates(plausible, pool):
    """Every (key, sentence number, new sentence, number of the first other sentence that shares a thing with it)."""
    for key, story in plausible.items():
        for number in range(len(story["sentences"])):
            others = [i for i in range(len(story["sentences"])) if i != number]
            for group, actor, text, named in pool:
                is_of_same_sex = (actor in WOMEN) == (story["actor"] in WOMEN)
                if group == story["story_id"] or PRONOUN.search(text) and not is_of_same_sex:
                    continue
                shared = [i for i in others if set(things(story["states"][i])) & set(named)]
                if shared:
                    yield key, number, (actor, text, named), shared[0]


def entities(actor, mentions):
    """The actor and the things, in the order in which the sentences mention them."""
    return list(dict.fromkeys([actor, *(name for named in mentions for name in named)]))


def unlabelled(story, texts, mentions, **more):
    keep = {key: story[key] for key in ("story_id", "actor")}
    named = entities(story["actor"], mentions)
    return keep | {"sentences": texts, "entities": named, "plausible": True, "breakpoint": -1, "confl_sents": [], "confl_pairs": []} | more


def about(person, sentence):
    actor, text, _ = sentence
    return re.sub(rf"\b{re.escape(actor)}\b", person, text)


def recombined(story, number, sentence, other):
    texts, mentions = list(story["sentences"]), [things(states) for states in story["states"]]
    texts[number], mentions[number] = about(story["actor"], sentence), sentence[2]
    first, last = sorted((other, number))
    conflict = {"breakpoint": last, "confl_sents": [first], "confl_pairs": [[first, last]]}
    return unlabelled(story, texts, mentions, plausible=False, type="cloze", **conflict)


def pairs(stories, wanted):
    """At most half again as many pairs of each plausible story as all have on average, or more where these are too few."""
    rng = random.Random(0)
    plausible = {key: story for key, story in stories.items() if is_plausible(key, story) and has_one_person(story)}
    found = list(candidates(plausible, sentences(stories.values())))
    rng.shuffle(found)
    most = -(-wanted * 3 // (2 * max(1, len({key for key, *_ in found}))))
    made, used, count = {}, set(), {}
    for limit, (key, number, sentence, other) in itertools.product((most, wanted), found):
        made_of_story, story = count.get(key, 0), plausible[key]
        if made_of_story >= limit or (key, sentence[1]) in used or len(used) == wanted:
            continue
        # The story would be the same.
        if about(story["actor"], sentence) == story["sentences"][number]:
            continue
        used.add((key, sentence[1]))
        count[key] = made_of_story + 1
        made.setdefault(key, unlabelled(story, story["sentences"], [things(states) for states in story["states"]]))
        made[f"{key}-C{made_of_story}"] = recombined(story, number, sentence, other)
    return made, len(used)


def read(file, split):
    try:
        stories = story_file.read(file, split)
        actors = {story["actor"] for story in stories.values()}
        for key, story in stories.items():
            for field, value in (("story_id", story["story_id"]), ("breakpoint", story.get("breakpoint", -1))):
                if type(value) is not int:
                    fail(f"{file}: {field} of story {key!r} is {json.dumps(value)}; write it as an integer")
            # As `tiered` reads it: a sentence without a row has no labels, and a row without a sentence counts for nothing.
            rows = len(story["sentences"])
            story["states"] = (story["states"] + [{}] * rows)[:rows]
            [(people(states), things(states)) for states in story["states"]]
    except OSError as problem:
        fail(f"{file}: {problem.strerror}")
    except KeyError as problem:
        fail(f"{file}: {problem} is missing; the stories need the labels of TRIP")
    except (ValueError, TypeError, AttributeError) as problem:
        fail(f"{file}: is no story file with TRIP's labels ({problem}); `tiered data check {file}` says more")
    unknown = sorted(actors - WOMEN - MEN)
    if unknown:
        fail(f"{file}: is {unknown[0]} a woman or a man? Add the name to WOMEN or MEN in {sys.argv[0]}")
    return stories


def main():
    if len(sys.argv) != 5 or not sys.argv[3].isdecimal() or int(sys.argv[3]) == 0:
        sys.exit(__doc__)
    file, split, wanted, out = sys.argv[1:]
    story_file.require_new(out, file)
    made, count = pairs(read(file, split), int(wanted))
    if count == 0:
        fail(f"{file}: no pair can be made of split {split}: no plausible story about one person shares a thing with another; name another split")
    if count < int(wanted):
        fail(f"{file}: only {count} of {wanted} pairs can be made of split {split}; ask for at most {count}")
    story_file.write(out, {split: made})
    print(f"{out}: {count} pairs of {len(made) - count} stories")


main()
