#!/usr/bin/env python3
"""Translate English stories in TRIP's format into Italian, sentences and entities, by rules: Apertium, by way of Catalan.

Labels, conflicts and names of stories stay as they are. The translation is rough. Nouns that Apertium does not know, or
translates otherwise than data/world, are taken from there, and their articles are adapted. Some verbs are in VERBS. A word
that nobody knows stays English.

Needs Python 3.11 or later, and the Debian packages apertium, apertium-cat-ita and apertium-eng-cat.
usage: translate-it.py FILE SPLIT OUT      (a story file, one of its splits, the new story file to write)
"""
import collections
import pathlib
import re
import sys

import apertium
import italian_forms
import story_file
from encoder_folder import fail

try:
    import tomllib
except ModuleNotFoundError:
    fail("needs Python 3.11 or later")

NEEDED = "on Debian: apt-get install apertium apertium-cat-ita apertium-eng-cat"
WORLD = pathlib.Path(__file__).parent.parent / "data/world"
# Verbs that one of the two steps lacks, as it leaves them, with the Italian infinitive and past tense. The Catalan past
# tense is "va" with the infinitive.
VERBS = {
    "botar": "rimbalzare rimbalzò", "desendollar": "scollegare scollegò", "desguassar": "svuotare svuotò",
    "destrossar": "distruggere distrusse", "endollar": "collegare collegò", "envasar": "impacchettare impacchettò",
    "escanejar": "scansionare scansionò", "esquerdar": "rompere ruppe", "estripar": "strappare strappò",
    "llescar": "affettare affettò", "olorar": "annusare annusò", "reposar": "riposare riposò",
    "retallar": "ritagliare ritagliò", "trepitjar": "calpestare calpestò",
    "dusted": "spolverò", "emptied": "svuotò", "faxed": "faxò", "flicked": "premette", "flipping": "girando",
    "hopped": "saltò", "jogged": "corse", "juiced": "spremette", "misplaced": "perse", "mopped": "lavò", "mow": "falciare",
    "mowed": "falciò", "ringing": "suonando", "rinsed": "sciacquò", "stapled": "spillò", "stumbled": "inciampò",
    "vacuuming": "aspirando",
}  # fmt: skip
# Nouns that data/world lacks, written as there.
NOUNS = {
    "bath": "bagno, m", "bookcase": "libreria, f", "light": "luce, f", "light switch": "interruttore, m", "mall": "centro commerciale, m",
    "mower": "tagliaerba, m", "office": "ufficio, m", "sandbox": "sabbiera, f", "seesaw": "altalena, f", "slide": "scivolo, m",
    "trash can": "cestino, m", "tub": "vasca, f", "tv": "televisore, m", "washer": "lavatrice, f", "water": "acqua, f mass",
}  # fmt: skip
# Plurals of nouns there that are not regular, written likewise.
PLURALS = {
    "amico": "amici, m", "braccio": "braccia, f", "cassaforte": "casseforti, f", "collega": "colleghi, m", "uovo": "uova, f", "zio": "zii, m",
}  # fmt: skip
INVARIABLE = set(
    "apriscatole aspirapolvere auto avocado baguette barbecue burrito caricabatterie cheesecake console cuociriso cyclette foto frigo "
    "frisbee garage guardaroba lavastoviglie lecca-lecca lime microonde minifrigo moto mouse parabrezza pelapatate peluche portabiancheria "
    "portagioie portapranzo puzzle radio salopette scolapasta sdraio smartphone stereo tagliaerba tagliaunghie temperamatite tostapane "
    "trousse ukulele yo-yo".split()
)  # fmt: skip
ARTICLES = {"": "il lo la l' i gli le", "di": "del dello della dell' dei degli delle", "a": "al allo alla all' ai agli alle",
            "da": "dal dallo dalla dall' dai dagli dalle", "in": "nel nello nella nell' nei negli nelle",
            "su": "sul sullo sulla sull' sui sugli sulle"}  # fmt: skip
KIND_OF = {form: kind for kind, forms in ARTICLES.items() for form in forms.split()}
INDEFINITE = {"un", "uno", "una", "un'"}
POSSESSIVES = {form: stem for stem in ("su", "mi", "tu") for form in (stem + "o", stem + "a", stem + "e", stem + "oi", stem + "ei")}
VOWEL = re.compile(r"(?i)[aeiouàèéìòù]")
HEAVY = re.compile(r"(?i)s[^aeiouàèéìòù]|z|gn|ps|x|y")
TOKEN = re.compile(r"[*#]*[\w-]+'?|[^\w\s]|\s+")


def stopped(lines):
    """The lines, each with an end: Apertium would read on to the next one."""
    return [line if line.rstrip().endswith((".", "!", "?")) else line + "." for line in lines]


def rough(lines):
    """Apertium's own Italian: unknown words have a `*` or two, wrong forms a `#`. Each step drops the last full stop of a line."""
    return apertium.translate("cat-ita", stopped(apertium.translate("eng-cat", stopped(lines), NEEDED)), NEEDED)


def plural_of(noun):
    """Of a noun with its gender, as the tables have it: "tazza, f"."""
    word, _, gender = noun.partition(",")
    if word in INVARIABLE:
        return noun
    regular = word[:-1] + "i" if word.endswith("a") and "m" in gender.split() else italian_forms.plural(word)
    return PLURALS.get(word, f"{regular},{gender}")


def articled(kind, word, feminine, plural):
    """The article, joined with the preposition `kind`, that stands before `word`."""
    if plural:
        form = "le" if feminine else "gli" if VOWEL.match(word) or HEAVY.match(word) else "i"
    else:
        form = "l'" if VOWEL.match(word) else "la" if feminine else "lo" if HEAVY.match(word) else "il"
    return ARTICLES[kind].split()[ARTICLES[""].split().index(form)]


def indefinite(word, feminine):
    if feminine:
        return "un'" if VOWEL.match(word) else "una"
    return "uno" if HEAVY.match(word) else "un"


def possessive(stem, feminine, plural):
    if plural:
        return stem + ("e" if feminine else "ei" if stem == "mi" else "oi")
    return stem + ("a" if feminine else "o")


class Noun:
    """An English noun with its Italian one, and what Apertium makes of it."""

    def __init__(self, english, italian, plural):
        words, _, marks = italian.partition(",")
        self.english, self.italian = english, words.strip()
        self.feminine, self.plural = "f" in marks.split(), plural or "plural" in marks.split()
        self.found = re.compile(rf"\b{re.escape(english)}\b", re.I)


def nouns(text):
    """The nouns of the table that `text` names and that Apertium lacks or translates otherwise; the longest first."""
    tables = [tomllib.loads((WORLD / table).read_text()) for table in ("things.toml", "places.toml")]
    things = [(thing["en"], thing["it"]) for table in tables for thing in table.values()] + list(NOUNS.items())
    known = {}
    for english, italian in things:
        english = english.partition(",")[0]
        known.setdefault(english, Noun(english, italian, False))
    for english, italian in things:  # a plural of the table goes before a regular one
        if "," not in english and " " not in italian.partition(",")[0]:
            known.setdefault(english + "s", Noun(english + "s", plural_of(italian), True))
    named = [noun for noun in known.values() if noun.found.search(text)]
    for noun, translation in zip(named, rough([f"The {noun.english}." for noun in named])):
        noun.rough = [token.lower() for token in TOKEN.findall(translation.rstrip(". "))]
        while noun.rough and (noun.rough[0] in KIND_OF or noun.rough[0].isspace()):
            noun.rough.pop(0)
    wrong = [noun for noun in named if noun.rough and "".join(noun.rough) != noun.italian.lower()]
    return sorted(wrong, key=lambda noun: -len(noun.english))


def agree(before, noun):
    """`before`, tokens up to the noun, with the articles and possessives at its end adapted to the noun."""
    following, at = noun.italian, len(before)
    while at:
        token = before[at - 1]
        lower = token.lower()
        if token.isspace():
            at -= 1
            continue
        if lower in KIND_OF:
            new = articled(KIND_OF[lower], following, noun.feminine, noun.plural)
        elif lower in INDEFINITE and not noun.plural:
            new = indefinite(following, noun.feminine)
        elif lower in POSSESSIVES:
            new = possessive(POSSESSIVES[lower], noun.feminine, noun.plural)
        else:
            break
        before[at - 1] = new.capitalize() if token[0].isupper() else new
        # No blank after an apostrophe, one after everything else.
        rest = before[at + 1 :] if before[at:] and before[at].isspace() else before[at:]
        before[at:] = rest if new.endswith("'") else [" ", *rest]
        following, at = new, at - 1
    return before


def mend(english, italian, wrong):
    """`italian`, the rough translation of `english`, with the nouns of the table and the verbs of VERBS."""
    tokens = TOKEN.findall(italian)
    for noun in wrong:
        if not noun.found.search(english):
            continue
        size = len(noun.rough)
        at = next((i for i in range(len(tokens)) if [t.lower() for t in tokens[i : i + size]] == noun.rough), None)
        if at is not None:
            tokens = agree(tokens[:at], noun) + [noun.italian] + tokens[at + size :]
    text = "".join(tokens)
    if re.search(r"\btook\b", english) and not re.search(r"\bto\b", english):
        text = re.sub(r"\bportò\b", "prese", text)
    for verb, forms in VERBS.items():
        infinitive, _, past = forms.rpartition(" ")
        text = re.sub(rf"\bva \*+{verb}\b", past, text)
        text = re.sub(rf"\*+{verb}\b", infinitive or past, text)
    # Marks that the English has may be its own. So are its full stops, or that it has none.
    for mark in set("*#@") - set(english):
        text = text.replace(mark, "")
    return text.strip().rstrip(".") + re.search(r"\.*$", english)[0]


def on_one_line(text):
    return " ".join(text.split())


def translations(texts, wrong):
    lines = list(dict.fromkeys(map(on_one_line, texts)))
    of_line = {line: mend(line, translation, wrong) for line, translation in zip(lines, rough(lines))}
    return {text: of_line[on_one_line(text)] for text in texts}


def without_article(text):
    text = text.rstrip(". ").strip()
    first = TOKEN.match(text)
    if first and first[0].lower() in KIND_OF:
        text = text[first.end() :].strip()
    return text


def objects_of(story):
    """The names that TRIP's field lists."""
    return [name.strip() for name in (story.get("objects") or "").split(",") if name.strip()]


def entities_of(story):
    """The entities as `tiered` reads them: where neither labels of a sentence nor a list name them, the actor and the objects."""
    rows = [state for state, _ in zip(story.get("states") or [], story["sentences"])]
    named = {name for state in rows for labels in state.values() for name, _ in labels}
    named |= set(story.get("entities") or [])
    if named or not objects_of(story):
        return named
    return {story.get("actor"), *objects_of(story)} - {None, ""}


def italian_story(story, sentences, entities):
    """The story with its sentences and entities translated. Entities with one and the same translation keep their names."""
    names = entities_of(story)
    times = collections.Counter(entities[name] for name in names)
    name_of = {name: entities[name] if times[entities[name]] == 1 else name for name in names}
    changed = {"sentences": [sentences[sentence] for sentence in story["sentences"]]}
    if story.get("states"):
        changed["states"] = [
            {attribute: [[name_of.get(name, name), label] for name, label in labels] for attribute, labels in state.items()}
            for state in story["states"]
        ]
    if story.get("entities"):
        changed["entities"] = [name_of[name] for name in story["entities"]]
    if story.get("objects"):
        changed["objects"] = ", ".join(name_of.get(name, name) for name in objects_of(story))
    return story | changed


def read(file, split):
    """The stories of a split by name, if `tiered data check` would read them."""
    try:
        stories = story_file.read(file, split)
        for story in stories.values():
            "".join(story["sentences"])
            "".join(entities_of(story))
        return stories
    except OSError as problem:
        fail(f"{file}: {problem.strerror}")
    except KeyError as problem:
        fail(f"{file}: {problem} is missing; `tiered data check {file}` says what it has")
    except (ValueError, TypeError, AttributeError) as problem:
        fail(f"{file}: is no story file ({problem}); `tiered data check {file}` says more")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    file, split, out = sys.argv[1:]
    story_file.require_new(out, file)
    stories = read(file, split)
    lines = sorted({sentence for story in stories.values() for sentence in story["sentences"]})
    names = sorted(set().union(*map(entities_of, stories.values())))
    people = {story.get("actor") for story in stories.values()}
    wrong = nouns("\n".join(map(on_one_line, lines + names)))
    sentences = translations(lines, wrong)
    phrases = {name: f"The {name}." for name in names if name not in people}
    of_phrase = translations(sorted(set(phrases.values())), wrong)
    entities = {name: without_article(of_phrase[phrases[name]]) if name in phrases else name for name in names}
    story_file.write(out, {split: {key: italian_story(story, sentences, entities) for key, story in stories.items()}})
    print(f"{out}: {len(stories)} stories, {len(lines)} sentences and {len(names)} entities translated")


main()
