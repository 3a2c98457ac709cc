#!/usr/bin/env python3
"""Make a small encoder for English and Italian: an English DeBERTa (`make deberta`) that gets Italian words.

scripts/italian_words.py says which words and what their vectors are. The English encoder tells upper case, and its
vocabulary is SentencePiece's (Unigram; Kudo, 2018), so that:

- A word is added twice, as it is and with a capital letter. Before an apostrophe ("dell'armadio"), the word and the
  apostrophe are one piece. After it ("c'è", "l'acqua"), "è" and words of three letters or more that begin with a vowel
  or h are pieces too. Some are English pieces that continue a word: of the 30,000 most frequent English words, as they
  are or with a capital letter, 91 have one that is mostly Italian now ("Smallest" ends in "est", which is east).
- A new piece's score is a little above that of its best split into other pieces, so that it mostly takes the place of
  that split alone.
- A piece that both languages have keeps its score, and its vector becomes a mean of both.

Needs what scripts/italian_words.py needs, and the Python packages numpy, safetensors and tokenizers (`make deberta-en-it`
installs these into .venv).
usage: get-deberta-en-it.py [OUT_DIR]      (default: checkpoints/encoders/deberta-en-it; reads checkpoints/encoders/deberta-xsmall)
"""
import json
import math
import pathlib

import encoder_folder

with encoder_folder.needed_by("deberta-en-it"):
    import numpy
    import safetensors.numpy
    import tokenizers

    import italian_words

DEFAULT = "checkpoints/encoders/deberta-en-it"
BASE = pathlib.Path("checkpoints/encoders/deberta-xsmall")
TABLE = "embeddings.word_embeddings.weight"
FILES = ("config.json", "tokenizer.json", "model.safetensors")
README = """\
# {name}

`deberta-xsmall` with vectors of Italian words, by `scripts/get-deberta-en-it.py`, which says how. These vectors are made
with Apertium's data and FreeDict's dictionaries (both GPL), MultiWordNet (CC BY 3.0) and wordfreq's list (CC BY-SA 4.0): mind their
licences if you pass the folder on.
"""
START = "▁"  # of a word
MARGIN = 0.5  # of a new piece's score above that of the word's best split, in natural logarithms
LONGEST = 24  # letters of a piece that are looked for in a word
BEFORE_APOSTROPHE = set("l un dell all nell sull dall d c".split())
ADJECTIVES = {"quell": "that", "quest": "this", "bell": "nice"}  # of which the list has no form with an apostrophe
AFTER_APOSTROPHE = tuple("aeiouàèéìòùh")


def best_split(word, scores):
    """The score of the best split of a word into pieces (Viterbi)."""
    best = [0.0] + [-math.inf] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(max(0, end - LONGEST), end):
            piece = scores.get(word[start:end])
            if piece is not None:
                best[end] = max(best[end], best[start] + piece)
    return best[-1]


def capital(text):
    return text[:1].upper() + text[1:]


def add_words(tokenizer, table):
    """Puts the Italian pieces into the vocabulary, and returns the table of vectors with theirs."""
    model, english = tokenizers.Tokenizer.from_str(json.dumps(tokenizer)), table.copy()
    vocabulary = tokenizer["model"]["vocab"]
    special = {token["content"] for token in tokenizer["added_tokens"]}
    scores = {piece: score for piece, score in vocabulary if piece not in special}
    rows = {piece: row for row, (piece, _) in enumerate(vocabulary)}
    new = {}

    def vector(text):
        return english[model.encode(text, add_special_tokens=False).ids].mean(axis=0)

    def add(piece, row, share=1.0):
        if piece in rows:
            table[rows[piece]] = share * row + (1 - share) * english[rows[piece]]
        elif best_split(piece, scores) > -math.inf:
            new[piece] = row

    for word, found in italian_words.translated():
        row, capital_row = (numpy.mean([vector(form(text)) for text in found], axis=0) for form in (str, capital))
        share = italian_words.share_of_italian(word)
        add(START + word, row, share)
        if len(word) > 1 or word == "è":
            add(START + capital(word), capital_row, share)
        if word in BEFORE_APOSTROPHE:
            add(f"{START}{word}'", row)
            add(f"{START}{capital(word)}'", capital_row)
        if word == "è" or len(word) > 2 and word.startswith(AFTER_APOSTROPHE):
            add(word, row, share)
    for word, translation in ADJECTIVES.items():
        for form in (word, capital(word)):
            add(f"{START}{form}'", vector(translation))
    unused = [[f"<unused{number}>", -1e4] for number in range(len(table) - len(vocabulary))]  # rows without a piece
    for token in tokenizer["added_tokens"]:
        if token["id"] >= len(vocabulary):
            unused[token["id"] - len(vocabulary)] = [token["content"], 0.0]
    for piece in sorted(new, key=len):  # what a piece is split into has its score already
        scores[piece] = best_split(piece, scores) + MARGIN
    tokenizer["model"]["vocab"] = vocabulary + unused + [[piece, scores[piece]] for piece in new]
    return numpy.concatenate([table, numpy.stack(list(new.values()))]).astype(numpy.float32)


def main():
    out = encoder_folder.from_command_line(DEFAULT, __doc__)
    if encoder_folder.present(out, FILES):
        return
    weights, tokenizer, config = italian_words.english_encoder(BASE, "deberta")
    before = len(weights[TABLE])
    weights[TABLE] = add_words(tokenizer, weights[TABLE])
    files = {
        "config.json": (json.dumps(config | {"vocab_size": len(weights[TABLE])}, indent=2) + "\n").encode(),
        "tokenizer.json": json.dumps(tokenizer, ensure_ascii=False).encode(),
        "model.safetensors": safetensors.numpy.save(weights, {"format": "pt"}),
    }
    encoder_folder.write(out, files, README.format(name=out.name))
    print(f"{len(weights[TABLE])} pieces, {len(weights[TABLE]) - before} of them new")


if __name__ == "__main__":
    main()
