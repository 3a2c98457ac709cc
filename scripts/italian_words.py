"""Italian words and their English translations, for encoders that get vectors of Italian words.

A new word's vector is the mean of its English translations' vectors, and a translation's vector is the mean of its
tokens'. The layers stay as they are. (WECHSEL by Minixhofer et al., 2022, likewise starts a language from another's
vectors.) To the encoder an Italian sentence is thus roughly a translation word for word. What else differs from
English, such as the order of words, it has to learn in training. No sentence of any corpus is read.

- Words: the 30,000 most frequent Italian ones (Python package wordfreq).
- Translations: words in FUNCTION_WORDS have the one that is given there. Another word has Apertium's, from Italian to
  Catalan to English, and up to three of the FreeDict dictionaries. If these don't have the word, it has up to two for
  each lemma. A word without translation is not added: the English vocabulary splits it into pieces.
- A word that both languages write alike gets the mean of both vectors, weighted by its frequency in each.

Needs the Debian packages apertium, apertium-cat-ita, apertium-eng-cat, dict-freedict-ita-eng and dict-freedict-eng-ita,
and the Python packages safetensors and wordfreq.
"""
import collections
import gzip
import json
import pathlib
import re
import shutil

import safetensors.numpy
import wordfreq

import apertium
import encoder_folder

WORDS = 30_000
ANALYSER = "/usr/share/apertium/apertium-cat-ita/ita-cat.automorf.bin"
DICTIONARY = "/usr/share/dictd/freedict-{}.dict.dz"
NEEDED = "on Debian: apt-get install apertium apertium-cat-ita apertium-eng-cat dict-freedict-ita-eng dict-freedict-eng-ita"
ACCENTS = dict(zip("àèéìíîòóùú", "aeeiiioouu"))
EMPTY = set("a an be of someone something the to".split())  # left out of a translation that has other words
FUNCTION_WORDS = {
    word: translation
    for translation, words in {
        "the": "il lo la i gli le l", "a": "un uno una", "of": "di d", "of the": "del dello della dei degli delle dell",
        "to": "a", "to the": "al allo alla ai agli alle all", "from": "da", "from the": "dal dallo dalla dai dagli dalle dall",
        "in": "in", "in the": "nel nello nella nei negli nelle nell", "on": "su", "on the": "sul sullo sulla sui sugli sulle sull",
        "with": "con col", "for": "per", "between": "tra fra", "and": "e ed", "or": "o", "but": "ma", "that": "che",
        "which": "cui", "not": "non", "himself": "si", "there": "ci c", "of it": "ne", "is": "è sta", "are": "sono",
        "was": "era", "been": "stato", "has": "ha", "have": "ho hanno", "had": "aveva", "his": "suo sua suoi sue", "my": "mio mia",
        "he": "lui", "she": "lei",
    }.items()
    for word in words.split()
}


def by_rules(words):
    """A translation for each word that both steps know. A full stop keeps a word from being read with the next one.

    The second step gets none, since the first one drops it, so that some words are translated together with the next one
    (docs/other-recipes.md). It stays so until the encoders, and all that was trained on them, are made anew.
    """
    catalan = apertium.translate("ita-cat", [word + "." for word in words], NEEDED)
    english = apertium.translate("cat-eng", catalan, NEEDED)
    return {word: text.rstrip(" .").lower() for word, text in zip(words, english) if not set("*@#") & set(text)}


def lemmas(words):
    """Of each word, its lemmas other than itself."""
    analyses = apertium.run(["lt-proc", "-w", ANALYSER], [word + " ." for word in words], NEEDED)
    found = (re.match(r"\^[^/]*/([^*].*?)\$", analysis) for analysis in analyses)
    return {
        word: [lemma for lemma in dict.fromkeys(a.split("<")[0].lower() for a in match[1].split("/")) if lemma != word]
        for word, match in zip(words, found) if match
    }


def dictionary(name):
    """The translations of each headword: lines such as "sale /sˈale/" are followed by "1. salt, ..."."""
    entries, headword = collections.defaultdict(list), None
    for line in gzip.open(DICTIONARY.format(name), "rt").read().split("\n"):
        if match := re.match(r"(.+?) /.*/", line):
            headword = match[1].strip().lower()
        elif headword:
            senses = re.sub(r"\(.*?\)", "", re.sub(r"^\d+\.\s*", "", line.strip()))
            entries[headword] += [sense.strip().lower() for sense in re.split("[,;]", senses) if sense.strip()]
    return entries


def freedict():
    """Both dictionaries, from Italian."""
    entries = dictionary("ita-eng")
    for english, italian in dictionary("eng-ita").items():
        for word in italian:
            entries[word].append(english)
    return entries


def content(translation):
    words = re.findall("[a-z]+", translation)
    return " ".join([word for word in words if word not in EMPTY] or words)


def translations(words):
    """For each word its translations, of which there may be none."""
    by_apertium, by_freedict, lemmas_of = by_rules(words), freedict(), lemmas(words)
    for word in words:
        entries = by_freedict.get(word, [])[:3] or [e for lemma in lemmas_of.get(word, []) for e in by_freedict.get(lemma, [])[:2]]
        found = [content(entry) for entry in [by_apertium.get(word, ""), *entries]]
        yield word, [FUNCTION_WORDS[word]] if word in FUNCTION_WORDS else [entry for entry in found if entry]


def english_encoder(folder, target):
    """Weights, tokenizer and config of the encoder that gets the words, which `make target` gets.

    Fails if it, a program or a dictionary is missing.
    """
    if not (folder / "model.safetensors").is_file():
        encoder_folder.fail(f"{folder}: there is no encoder; `make {target}` gets it")
    needed = [pathlib.Path(ANALYSER), *(pathlib.Path(DICTIONARY.format(name)) for name in ("ita-eng", "eng-ita"))]
    if not (shutil.which("apertium") and all(file.is_file() for file in needed)):
        encoder_folder.fail(f"Apertium or a dictionary is missing; {NEEDED}")
    tokenizer, config = (json.loads((folder / name).read_text()) for name in ("tokenizer.json", "config.json"))
    return safetensors.numpy.load_file(folder / "model.safetensors"), tokenizer, config


def translated():
    """Each word that has translations, with them."""
    frequent = [word for word in wordfreq.top_n_list("it", WORDS) if re.fullmatch(f"[a-z{''.join(ACCENTS)}]+", word)]
    return [(word, found) for word, found in translations(list(dict.fromkeys([*FUNCTION_WORDS, *frequent]))) if found]


def share_of_italian(word):
    italian, english = (wordfreq.word_frequency(word, language) for language in ("it", "en"))
    return italian / (italian + english)
