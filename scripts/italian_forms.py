"""Of which lemmas an Italian word is a form, for scripts/italian_dictionary.py."""
import collections
import re
import typing

import apertium

ANALYSER = "/usr/share/apertium/apertium-cat-ita/ita-cat.automorf.bin"
NEEDED = "on Debian: apt-get install apertium apertium-cat-ita apertium-eng-cat dict-freedict-ita-eng dict-freedict-eng-ita"
PARTS = {"vblex": "v", "vbhaver": "v", "vbser": "v", "vbmod": "v", "n": "n", "adj": "a", "adv": "r"}  # of speech: Apertium's tags
TAGS = {"pp": "VBN", "ger": "VBG", "ifi": "VBD", "pii": "VBD"}  # likewise
CLITICS = {"lo": " it", "si": " himself", "ci": " there", "ne": " of it", "gli": " to him", "mi": " me", "ti": " you", "vi": " you"}
REGULAR_CLITICS = {"lo": " it", "la": " it", "li": " them", "le": " them", "si": " himself"}
VERB_ENDINGS = {  # of regular verbs
    "are": {"are": "VB", "a": "VBZ", "ano": "VB", "ato ata ati ate": "VBN", "ando": "VBG", "ò arono ava avano": "VBD"},
    "ere": {"ere": "VB", "e": "VBZ", "ono": "VB", "uto uta uti ute": "VBN", "endo": "VBG", "é erono eva evano": "VBD"},
    "ire": {"ire": "VB", "isce e": "VBZ", "iscono ono": "VB", "ito ita iti ite": "VBN", "endo": "VBG", "ì irono iva ivano": "VBD"},
}
PLURALS = [  # of a regular noun or adjective, by its ending
    (r"([aeiou][cg]i)a", r"\1e"), (r"([cg])ia", r"\1e"), (r"([cg])o", r"\1hi"), (r"([cg])a", r"\1he"), ("io", "i"), ("[oe]", "i"), ("a", "e"),
]


class Analysis(typing.NamedTuple):
    """Of a form: "rompendola" is of "rompere", "v", "VBG", and its clitic adds " it"."""

    lemma: str
    part: str  # of speech as WordNet has it: n, v, a or r; "" if it is not known
    tag: str = ""  # Penn Treebank's, of the English form; "" for the lemma
    clitic: str = ""


def analyse(words):
    """Of each word Apertium's analyses, of which there may be none."""
    lines = apertium.run(["lt-proc", "-w", ANALYSER], [word + " ." for word in words], NEEDED)
    return {word: third_person(line.split("$")[0].split("/")[1:]) for word, line in zip(words, lines)}


def third_person(texts):
    """Without those of "I" and "you" if there are others: stories have neither."""
    told = [text for text in texts if not re.search("<p[12]>", text.split("+")[0])]
    return list(dict.fromkeys(filter(None, map(analysis, told or texts))))


def analysis(text):
    """Of a text such as "rompere<vblex><ger>+lo<prn><enc>". None if it is of no part of speech that has translations."""
    first, *clitics = text.split("+")
    lemma, *tags = re.findall("[^<>]+", first)
    part = PARTS.get(tags[0]) if tags else None
    if part is None:
        return None
    tag = ""
    if part == "n":
        tag = "NNS" if "pl" in tags else "NN"
    elif part == "v":
        present = "VBZ" if {"pri", "p3", "sg"} <= set(tags) else "VB"
        tag = next((TAGS[tag] for tag in tags if tag in TAGS), present)
        lemma = re.sub("rsi$", "re", lemma)
    return Analysis(lemma.lower(), part, tag, "".join(map(adds, clitics)))


def adds(clitic):
    """What a clitic adds to the English words: "lo<prn><enc><p3><m><pl>": " them"."""
    name = clitic.split("<")[0]
    return " them" if name == "lo" and "<pl>" in clitic else CLITICS.get(name, "")


def plural(noun):
    """The regular plural."""
    changed = (re.subn(ending + "$", other, noun) for ending, other in PLURALS)
    return next((plural for plural, changes in changed if changes), noun)


def regular(lemmas):
    """What each regular form is, of pairs of lemma and part of speech."""
    analyses = collections.defaultdict(list)
    for lemma, part in lemmas:
        for form, *rest in forms(lemma, part):
            analyses[form].append(Analysis(lemma, part, *rest))
    return analyses


def forms(lemma, part):
    """The regular forms of a lemma, each with its tag and what a clitic adds, if there is one."""
    if part == "n":
        return [(lemma, "NN"), (plural(lemma), "NNS")]
    if part == "a":
        stems = [lemma, lemma[:-1] + "a"] if lemma.endswith("o") else [lemma]
        return [(form,) for stem in stems for form in (stem, plural(stem))]
    if part == "v" and lemma[-3:] in VERB_ENDINGS:
        found = [(lemma[:-3] + end, tag) for ends, tag in VERB_ENDINGS[lemma[-3:]].items() for end in ends.split()]
        hosts = [(lemma[:-1], "VB"), *((form, tag) for form, tag in found if tag == "VBG")]
        return found + [(host + clitic, tag, added) for host, tag in hosts for clitic, added in REGULAR_CLITICS.items()]
    return [(lemma,)]
