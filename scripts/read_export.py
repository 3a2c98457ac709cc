#!/usr/bin/env python3
"""Read what `tiered export` wrote: the states of an entity before and after each sentence.

usage: read_export.py FOLDER ENTITY SENTENCE...      --json for every probability
Needs torch, transformers and safetensors.
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import load_file
from torch.nn.functional import linear
from transformers import AutoModel, AutoTokenizer


class Reader:
    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.description = json.loads((folder / "tiered.json").read_text(encoding="utf-8"))
        self.heads = load_file(folder / "tiered_heads.safetensors")
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.encoder = AutoModel.from_pretrained(folder).eval()

    def embed(self, entity, sentence):
        """[H]: the encoder's last hidden state at the first token."""
        inputs = self.tokenizer(entity, sentence, return_tensors="pt")
        return self.encoder(**inputs).last_hidden_state[0, 0]

    def logits(self, side, embedding):
        """[66]: one layer for each of the 20 attributes, then their classes one after another."""
        heads, attributes = self.heads, self.description["attributes"]
        hidden = linear(embedding, heads[f"{side}.dense.weight"], heads[f"{side}.dense.bias"]).tanh()
        hidden = hidden.view(len(attributes), -1)  # [20, H]
        rows = [slice(a["offset"], a["offset"] + a["classes"]) for a in attributes]
        return torch.cat([linear(h, heads[f"{side}.out.weight"][r], heads[f"{side}.out.bias"][r])
                          for h, r in zip(hidden, rows)])

    @torch.no_grad()
    def states(self, entity, sentence):
        """{side: {attribute: [probability of each class]}}"""
        embedding = self.embed(entity, sentence)
        return {side: {a["name"]: logits[a["offset"]:a["offset"] + a["classes"]].softmax(0).tolist()
                       for a in self.description["attributes"]}
                for side in self.description["sides"] for logits in [self.logits(side, embedding)]}


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--json"]
    if len(arguments) < 3:
        sys.exit(__doc__)
    folder, entity, *sentences = arguments
    reader = Reader(folder)
    for sentence in sentences:
        states = reader.states(entity, sentence)
        if "--json" in sys.argv:
            print(json.dumps({"entity": entity, "sentence": sentence, "states": states}))
            continue
        print(sentence)
        for attribute in reader.description["attributes"]:
            for side in reader.description["sides"]:
                for words, probability in zip(attribute[side], states[side][attribute["name"]]):
                    if words and probability >= 0.02:
                        print(f"  {100 * probability:5.1f} %  {entity} {words}")


if __name__ == "__main__":
    main()
