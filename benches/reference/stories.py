"""TRIP's story files -> pairs of stories with labels, as the papers define them.

Written from the papers and TRIP's published files, not from the Rust of `tiered`, so that the two can be compared.
"""
import dataclasses
import json

import torch

ATTRIBUTES = [
    "h_location", "conscious", "wearing", "h_wet", "hygiene",
    "location", "exist", "clean", "power", "functional", "pieces", "wet", "open", "temperature", "solid",
    "contain", "running", "moveable", "mixed", "edible",
]
CLASSES = [9 if name == "location" else 3 for name in ATTRIBUTES]
WHOLE = {"h_location", "location"}  # attributes whose label is precondition and effect class at once
PRECONDITION = [0, 1, 2, 2, 1, 0, 0, 1, 2]  # of the labels 0 to 8: 0 unknown, 1 false, 2 true
EFFECT = [0, 1, 2, 1, 2, 1, 2, 0, 0]
DEFAULT_TRUE = {"conscious", "exist", "functional", "moveable"}


@dataclasses.dataclass
class Story:
    sentences: list[str]
    entities: list[str]
    labels: torch.Tensor     # [2, E, N, 20] classes: preconditions, effects
    conflicts: torch.Tensor  # [E, N] 1 where an entity takes part in the conflict

    def of(self, names):
        """The story with some of its entities"""
        rows = [self.entities.index(name) for name in names]
        return Story(self.sentences, names, self.labels[:, rows], self.conflicts[rows])


@dataclasses.dataclass
class Pair:
    stories: list[Story]
    plausible: int             # which of the two
    conflict: tuple[int, int]  # the two sentences of the implausible one


def annotated(story):
    """{entity: {sentence: {attribute: label}}}"""
    found = {}
    for i, states in enumerate(story["states"][:len(story["sentences"])]):
        for attribute, values in states.items():
            for entity, label in values:
                found.setdefault(entity.strip(), {}).setdefault(i, {})[attribute] = label
    return found


def read_story(story, conflict=None):
    states, n = annotated(story), len(story["sentences"])
    labels, conflicts = torch.zeros(2, len(states), n, len(ATTRIBUTES), dtype=torch.long), torch.zeros(len(states), n)
    for e, sentences in enumerate(states.values()):
        for i, attributes in sentences.items():
            for attribute, label in attributes.items():
                a = ATTRIBUTES.index(attribute)
                labels[0, e, i, a] = label if attribute in WHOLE else PRECONDITION[label]
                labels[1, e, i, a] = label if attribute in WHOLE else EFFECT[label]
        if conflict and any(i in sentences for i in conflict):
            conflicts[e, list(conflict)] = 1
    return Story(story["sentences"], list(states), labels, conflicts)


def read_pairs(path, split, kind=None, seed=0):
    """Every implausible story with the plausible one of its `story_id`; which comes first is a seeded coin."""
    stories = list(json.load(open(path))[split].values())
    plausible = {story["story_id"]: story for story in stories if story["plausible"]}
    coin, pairs = torch.Generator().manual_seed(seed), []
    for story in stories:
        if story["plausible"] or kind not in (None, story["type"]):
            continue
        breakpoint = story["breakpoint"]
        conflict = (max(i for i in story["confl_sents"] if i < breakpoint), breakpoint)
        both = [read_story(plausible[story["story_id"]]), read_story(story, conflict)]
        label = int(torch.randint(2, (1,), generator=coin))
        pairs.append(Pair(both[::-1] if label else both, label, conflict))
    return pairs


def is_nontrivial(classes):
    """[.., 20] classes -> [.., 20] whether they say something: not unknown, and not the attribute's default."""
    default = torch.tensor([2 if name in DEFAULT_TRUE else 0 for name in ATTRIBUTES])
    return (classes > 0) & (classes != default)
