#!/usr/bin/env python3
"""Does an encoder understand Italian as it understands English? Each Italian sentence of synthetic stories looks for its
English counterpart, by the cosine of mean vectors, and the other way round. Printed is how many percent find it first.

The sentences are those that `tiered data synthesize --pairs 150 --style gita --seed 77` makes in both languages. One seed tells mostly the
same stories in both, but with other names and wordings, so not even a perfect encoder finds all. Sentences of other actions are left out.

Needs .venv (`make venv`) and target/release/tiered.
usage: .venv/bin/python scripts/check-en-it.py ENCODER...
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import transformers

TIERED = pathlib.Path(__file__).resolve().parent.parent / "target/release/tiered"


def stories(language, folder):
    file = pathlib.Path(folder) / f"{language}.json"
    subprocess.run([TIERED, "data", "synthesize", "--quiet", "--lang", language, "--style", "gita", "--pairs", "150", "--seed", "77",
                    "--output", file], check=True)
    split, = json.loads(file.read_text()).values()
    return split


def sentences():
    """Each English sentence once, with the Italian one of the same story, place and action."""
    with tempfile.TemporaryDirectory() as folder:
        english, italian = stories("en", folder), stories("it", folder)
    pairs = {}
    for key, story in english.items():
        other = italian[key]
        for row in zip(story["sentences"], other["sentences"], story["actions"], other["actions"]):
            if row[2] == row[3]:
                pairs.setdefault(row[0], row[1])
    return list(pairs), list(pairs.values())


def vectors(folder, texts):
    """[N, H], of length 1."""
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json", pad_token="<pad>")
    model = transformers.AutoModel.from_pretrained(folder).eval()
    rows = []
    with torch.no_grad():
        for text in texts:
            inputs = tokenizer(text, return_tensors="pt", padding=False, return_token_type_ids=False)
            rows.append(model(**inputs).last_hidden_state[0].mean(dim=0))
    return torch.nn.functional.normalize(torch.stack(rows), dim=1)


def main():
    if len(sys.argv) == 1 or any(a.startswith("-") for a in sys.argv[1:]):
        sys.exit(__doc__)
    if not TIERED.is_file():
        sys.exit(f"error: {TIERED} is missing; `make build` makes it")
    transformers.utils.logging.set_verbosity_error()
    english, italian = sentences()
    print(f"{len(english)} sentences; % that find their counterpart first")
    for folder in sys.argv[1:]:
        cosines = vectors(folder, italian) @ vectors(folder, english).T
        own = torch.arange(len(english))
        first = [100 * (cosines.argmax(dim=side) == own).float().mean().item() for side in (1, 0)]
        print(f"{folder}: Italian to English {first[0]:.1f}, English to Italian {first[1]:.1f}", flush=True)


if __name__ == "__main__":
    main()
