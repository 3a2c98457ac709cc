#!/usr/bin/env python3
"""Translate English stories in TRIP's format into Italian, sentences and entities, by rules: Apertium, by way of Catalan.

Labels, conflicts and names of stories stay as they are. The translation is rough. Nouns that Apertium does not know, or
translates otherwise, are those of data/world; their articles are adapted. Some verbs are in VERBS. A word that
nobody knows stays as it is.

Needs the Debian packages apertium, apertium-cat-ita and apertium-eng-cat.
usage: translate-it.py FILE SPLIT OUT      (a story file, one of its splits, the story file to write)
"""
import json
import pathlib
import re
import subprocess
import sys
import tomllib

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
ARTICLES = {"": "il lo la l' i gli le", "di": "del dello della dell' dei degli delle", "a": "al allo alla all' ai agli alle",
            "da": "dal dallo dalla dall' dai dagli dalle", "in": "nel nello nella nell' nei negli nelle",
            "su": "sul sullo sulla sull' sui sugli sulle"}  # fmt: skip
KIND_OF = {form: kind for kind, forms in ARTICLES.items() for form in forms.split()}
INDEFINITE = {"un", "uno", "una", "un'"}
POSSESSIVES = {form: stem for stem in ("su", "mi", "tu") for form in (stem + "o", stem + "a", stem + "e", stem + "oi", stem + "ei")}
TOKEN = re.compile(r"[*#]*[\w-]+'?|[^\w\s]|\s+")


def fail(message):
    sys.exit(f"error: {message}")


def apertium(mode, lines):
    done = subprocess.run(["apertium", "-f", "line", mode], input="\n".join(lines) + "\n", capture_output=True, text=True)
    out = done.stdout.rstrip("\n").split("\n")
    if done.returncode or len(out) != len(lines):
        fail(f"apertium {mode} made {len(out)} lines of {len(lines)}; {done.stderr.strip() or NEEDED}")
    return out


def rough(lines):
    return apertium("cat-ita", apertium("eng-cat", lines))


def plural_of(noun, feminine):
    """The regular plural of an Italian noun."""
    if noun.endswith(("ca", "ga")):
        return noun[:-1] + "he"
    if noun.endswith("a"):
        return noun[:-1] + ("e" if feminine else "i")
    if noun.endswith(("io", "ia")):
        return noun[:-1]
    return noun[:-1] + "i" if noun.endswith(("o", "e")) else noun


def articled(kind, noun, feminine, plural):
    """The article, joined with the preposition `kind`, that `noun` needs."""
    vowel = noun[0].lower() in "aeiouàèéìòù"
    heavy = re.match(r"(?i)s[^aeiouàèéìòù]|z|gn|ps|x|y", noun)
    if plural:
        form = "le" if feminine else ("gli" if vowel or heavy else "i")
    else:
        form = "l'" if vowel else "la" if feminine else "lo" if heavy else "il"
    return ARTICLES[kind].split()["il lo la l' i gli le".split().index(form)]


def indefinite(noun, feminine):
    vowel = noun[0].lower() in "aeiou"
    if feminine:
        return "un'" if vowel else "una"
    return "uno" if re.match(r"(?i)s[^aeiou]|z|gn|ps|x|y", noun) else "un"


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
        english, _, marks = english.partition(",")
        known.setdefault(english, Noun(english, italian, False))
        if not marks and " " not in italian.partition(",")[0]:
            noun = Noun(english + "s", italian, True)
            noun.italian = plural_of(noun.italian, noun.feminine)
            known.setdefault(noun.english, noun)
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
            stem = POSSESSIVES[lower]
            new = stem + (("e" if noun.feminine else ("ei" if stem == "mi" else "oi")) if noun.plural else "a" if noun.feminine else "o")
        else:
            break
        before[at - 1] = new.capitalize() if token[0].isupper() else new
        # No blank after an apostrophe, one after everything else.
        rest = before[at:]
        if rest and rest[0].isspace():
            rest = rest[1:]
        before[at:] = rest if new.endswith("'") else [" "] + rest
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
    end = "." if english.endswith(".") and not text.endswith(".") else ""
    return re.sub(r"[*#@]+", "", text).strip() + end


def translations(lines, wrong):
    return {line: mend(line, translation, wrong) for line, translation in zip(lines, rough(lines))}


def without_article(text):
    text = text.rstrip(". ").strip()
    first = TOKEN.match(text)
    if first and first[0].lower() in KIND_OF:
        text = text[first.end() :].strip()
    return text


def italian_story(story, sentences, entities):
    """The story with its sentences and entities translated. Two entities with one translation keep their English names."""
    names = sorted({name for state in story["states"] for labels in state.values() for name, _ in labels})
    taken = {}
    for name in names:
        taken.setdefault(entities[name], []).append(name)
    name_of = {name: entities[name] if len(taken[entities[name]]) == 1 else name for name in names}
    return story | {
        "sentences": [sentences[sentence] for sentence in story["sentences"]],
        "objects": ", ".join(name_of.get(name, name) for name in story.get("objects", "").split(", ")),
        "states": [
            {attribute: [[name_of[name], label] for name, label in labels] for attribute, labels in state.items()}
            for state in story["states"]
        ],
    }


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    source, split, out = sys.argv[1:]
    stories = json.loads(pathlib.Path(source).read_text()).get(split)
    if not stories:
        fail(f"{source} has no stories of split {split}")
    every = stories.values() if isinstance(stories, dict) else stories
    lines = sorted({sentence for story in every for sentence in story["sentences"]})
    names = sorted({name for story in every for state in story["states"] for labels in state.values() for name, _ in labels})
    wrong = nouns("\n".join(lines + names))
    sentences = translations(lines, wrong)
    people = {story["actor"] for story in every}
    phrases = {name: f"The {name}." for name in names if name not in people}
    of_phrase = translations(sorted(set(phrases.values())), wrong)
    entities = {name: without_article(of_phrase[phrases[name]]) if name in phrases else name for name in names}
    done = [italian_story(story, sentences, entities) for story in every]
    if isinstance(stories, dict):
        done = dict(zip(stories, done))
    path = pathlib.Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({split: done}, ensure_ascii=False))
    print(f"{out}: {len(done)} stories, {len(lines)} sentences and {len(names)} entities translated")


main()
