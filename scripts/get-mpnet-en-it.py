#!/usr/bin/env python3
"""Make an encoder of base size for English and Italian: an English one (`make mpnet`) that gets Italian words.

scripts/italian_words.py says which words and what their vectors are. Italian accents are kept, since "è" is "is" and
"e" is "and". Those of other letters of Latin-1 are stripped, as in the English encoder.

Needs what scripts/italian_words.py needs, and the Python packages numpy, safetensors and tokenizers (`make mpnet-en-it`
installs these into .venv).
usage: get-mpnet-en-it.py [OUT_DIR]      (default: checkpoints/encoders/mpnet-en-it; reads checkpoints/encoders/mpnet-base)
"""
import json
import pathlib
import unicodedata

import encoder_folder

with encoder_folder.needed_by("mpnet-en-it"):
    import numpy
    import safetensors.numpy
    import tokenizers

    import italian_words
    from italian_words import ACCENTS

DEFAULT = "checkpoints/encoders/mpnet-en-it"
BASE = pathlib.Path("checkpoints/encoders/mpnet-base")
TABLE = "embeddings.word_embeddings.weight"
FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")
README = """\
# {name}

all-mpnet-base-v2 (Apache 2.0) with vectors of Italian words, by `scripts/get-mpnet-en-it.py`, which says how. These vectors are made with
Apertium's data and FreeDict's dictionaries (both GPL), MultiWordNet (CC BY 3.0) and wordfreq's list (CC BY-SA 4.0): mind their
licences if you pass the folder on.
"""


def normalizer(lowercase):
    """As the English one, but that Italian accents are kept. Other letters of Latin-1 lose theirs."""
    bases = {letter: unicodedata.normalize("NFD", letter)[0] for letter in map(chr, range(0xDF, 0x100)) if letter not in ACCENTS}
    stripped = [{"type": "Replace", "pattern": {"String": letter}, "content": base} for letter, base in bases.items() if base.isascii()]
    return {"type": "Sequence", "normalizers": [{"type": "NFC"}, lowercase | {"strip_accents": False}, *stripped]}


def add_words(tokenizer, table):
    """Puts the Italian words into the vocabulary, and returns the table of vectors with theirs."""
    model = tokenizers.Tokenizer.from_str(json.dumps(tokenizer | {"padding": None, "truncation": None}))
    vocabulary, english, new = tokenizer["model"]["vocab"], table.copy(), []

    def vector(text):
        return english[model.encode(text, add_special_tokens=False).ids].mean(axis=0)

    def add(word, row):
        vocabulary[word] = len(table) + len(new)
        new.append(row)

    for word, found in italian_words.translated():
        row = numpy.mean([vector(translation) for translation in found], axis=0)
        if word in vocabulary:
            share = italian_words.share_of_italian(word)
            table[vocabulary[word]] = share * row + (1 - share) * english[vocabulary[word]]
        else:
            add(word, row)
    for prefix in ("", "##"):
        for accented, plain in ACCENTS.items():
            if prefix + accented not in vocabulary:
                add(prefix + accented, english[vocabulary[prefix + plain]])
    return numpy.concatenate([table, numpy.stack(new)]).astype(numpy.float32)


def main():
    out = encoder_folder.from_command_line(DEFAULT, __doc__)
    if encoder_folder.present(out, FILES):
        return
    weights, tokenizer, config = italian_words.english_encoder(BASE, "mpnet")
    before = len(weights[TABLE])
    weights[TABLE] = add_words(tokenizer, weights[TABLE])
    config["vocab_size"] = len(weights[TABLE])
    tokenizer["normalizer"] = normalizer(tokenizer["normalizer"])
    special = json.loads((BASE / "tokenizer_config.json").read_text())
    # Not MPNetTokenizer, which would strip all accents.
    special = {key: value for key, value in special.items() if key.endswith("_token")} | {"tokenizer_class": "PreTrainedTokenizerFast"}
    files = {
        "config.json": (json.dumps(config, indent=2) + "\n").encode(),
        "tokenizer.json": json.dumps(tokenizer, ensure_ascii=False).encode(),
        "tokenizer_config.json": (json.dumps(special, indent=2) + "\n").encode(),
        "model.safetensors": safetensors.numpy.save(weights, {"format": "pt"}),
    }
    encoder_folder.write(out, files, README.format(name=out.name))
    print(f"{len(weights[TABLE])} words and pieces, {len(weights[TABLE]) - before} of them new")


if __name__ == "__main__":
    main()
