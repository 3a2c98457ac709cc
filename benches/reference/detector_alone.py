#!/usr/bin/env python3
"""Trains only TRIP's conflict detector, with states or embeddings as given inputs. No encoder is trained.

It reads gold states (one-hot preconditions and effects), the vectors of a frozen encoder, or both, and learns Lc (and Ls)
with AdamW, a tenth of the steps as warm-up, and a linear schedule. Prints a line of JSON every `--every` steps and at the end.

usage: detector_alone.py --inputs states|embeddings|both --train FILE:SPLIT[:KIND[:PAIRS]] ... [--steps N] [...]
"""
import argparse
import json
import pathlib
import random
import time

import torch
from torch.nn import functional as F
from transformers import AutoModel, AutoTokenizer

from batches import Batch
from metrics import evaluate
from model import ConflictDetector, conflict_losses, half_precision, story_scores
from stories import ATTRIBUTES, CLASSES, Pair, read_pairs


class Frozen:
    """First-token vectors of a pretrained encoder by their text; cached in a file if one is named."""

    def __init__(self, folder, cache):
        self.folder, self.cache, self.vectors = folder, cache and pathlib.Path(cache), {}
        if self.cache and self.cache.exists():
            kept = torch.load(self.cache)
            if kept["encoder"] != folder:
                raise SystemExit(f"error: {cache} contains vectors of {kept['encoder']}; name another file for {folder}")
            self.vectors = kept["vectors"]

    def add(self, texts):
        missing = sorted(set(texts) - self.vectors.keys(), key=lambda text: len(text[1]))
        if not missing:
            return
        tokenizer, encoder = AutoTokenizer.from_pretrained(self.folder), AutoModel.from_pretrained(self.folder).eval()
        with torch.no_grad(), half_precision():
            for start in range(0, len(missing), 256):
                part = missing[start:start + 256]
                inputs = tokenizer([a for a, _ in part], [b for _, b in part], padding=True, return_tensors="pt")
                vectors = encoder(**inputs).last_hidden_state[:, 0].half()
                self.vectors |= dict(zip(part, vectors))
        if self.cache:
            torch.save({"encoder": self.folder, "vectors": self.vectors}, self.cache)


def texts(pairs):
    return [(entity, sentence) for pair in pairs for story in pair.stories
            for entity in story.entities for sentence in story.sentences]


class Inputs:
    """The inputs of the detector for each batch: embeddings [R, N, H] and states [R, N, 132]."""

    def __init__(self, kind, frozen, pairs, center):
        self.frozen = frozen if kind != "states" else None
        if self.frozen:
            sample = torch.stack([frozen.vectors[text] for text in set(texts(pairs))]).float()
            self.mean, self.std = (sample.mean(0), sample.std(0)) if center else (0, 1)
            self.hidden = sample.shape[1]
        else:
            self.hidden = 1

    def __call__(self, batch):
        shape = batch.cells.shape
        states = torch.zeros(*shape, 2 * sum(CLASSES))
        states[batch.mask] = torch.cat([F.one_hot(batch.labels[side, :, a], CLASSES[a])
                                        for side in (0, 1) for a in range(len(ATTRIBUTES))], 1).float()
        if not self.frozen:
            return torch.zeros(*shape, 1), states
        vectors = torch.stack([self.frozen.vectors[text] for text in batch.texts]).float()
        return ((vectors - self.mean) / self.std)[batch.cells], states


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", choices=["states", "embeddings", "both"], required=True)
    parser.add_argument("--train", nargs="+", required=True)
    parser.add_argument("--dev", required=True, metavar="FILE:SPLIT")
    parser.add_argument("--encoder", default="checkpoints/encoders/e5-small")
    parser.add_argument("--cache", metavar="FILE", help="cache the vectors of the encoder in this file")
    parser.add_argument("--center", action="store_true", help="scale every dimension of the embeddings to mean 0 and standard deviation 1")
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--pairs-per-step", type=int, default=4)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--warmup", type=float, default=0.1)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--norm", choices=["after", "before"], default="after")
    parser.add_argument("--story", type=float, default=0.0, help="weight of Ls; Lc has weight 1")
    parser.add_argument("--scaled", type=float, metavar="RESIDUAL", help="initialise to the scale of the inputs (model.py, `scale`)")
    parser.add_argument("--entities", type=int, help="use at most this many entities of each story, drawn again in each step")
    parser.add_argument("--every", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--name", default="")
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    rng = random.Random(arguments.seed)

    def read(source):
        file, split, kind, pairs = (source.split(":") + ["", ""])[:4]
        return read_pairs(file, split, kind or None)[:int(pairs) if pairs else None]

    train, dev = [pair for source in arguments.train for pair in read(source)], read(arguments.dev)
    sentences = max(len(story.sentences) for pair in train + dev for story in pair.stories)
    frozen = None
    if arguments.inputs != "states":
        frozen = Frozen(arguments.encoder, arguments.cache)
        frozen.add(texts(train + dev))
    inputs = Inputs(arguments.inputs, frozen, train, arguments.center)
    model = ConflictDetector(inputs.hidden, sentences, arguments.dropout, arguments.inputs, arguments.layers, arguments.norm)
    if arguments.scaled:
        batch = Batch(train[::max(1, len(train) // 32)], sentences)
        model.scale(*(x[batch.mask] for x in inputs(batch)), arguments.scaled)
    torch.nn.init.constant_(model.out.bias, -2.25)
    optimiser = torch.optim.AdamW(model.parameters(), lr=arguments.rate, eps=1e-6, weight_decay=0.0)
    warm = max(1, int(arguments.warmup * arguments.steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda s: min((s + 1) / warm, (arguments.steps - s) / max(1, arguments.steps - warm)))

    def drawn(pair):
        if not arguments.entities:
            return pair
        names = sorted({name for story in pair.stories for name in story.entities})
        rng.shuffle(names)
        return Pair([story.of([n for n in names if n in story.entities][:arguments.entities]) for story in pair.stories],
                    pair.plausible, pair.conflict)

    def forward(batch):
        embeddings, states = inputs(batch)
        with half_precision():
            return model(embeddings, states, batch.mask)

    def score(pairs):
        model.eval()
        batches = [Batch(pairs[i:i + 16], sentences) for i in range(0, len(pairs), 16)]
        losses = []

        def predict(batch):
            logits = forward(batch)
            losses.append(conflict_losses(logits, batch)[0].item())
            return None, logits, story_scores(logits, batch)
        with torch.no_grad():
            tiers = evaluate(pairs, batches, predict)
        model.train()
        a, t, p = tiers["threshold"][0], tiers["threshold"][1], tiers["pair"][1]
        return {"lc": round(sum(losses) / len(losses), 4), "tiers": f"{a} / {t} / {p}"}

    order, sums, start = [], [], time.time()
    for step in range(arguments.steps):
        if len(order) < arguments.pairs_per_step:
            order = rng.sample(range(len(train)), len(train))
        batch = Batch([drawn(train[order.pop()]) for _ in range(arguments.pairs_per_step)], sentences)
        conflicts, story = conflict_losses(forward(batch), batch)
        optimiser.zero_grad()
        (conflicts + arguments.story * story).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        sums.append(conflicts.item())
        if (step + 1) % arguments.every == 0 or step + 1 == arguments.steps:
            print(json.dumps({"name": arguments.name, "step": step + 1, "lc": round(sum(sums) / len(sums), 4), "dev": score(dev),
                              "train150": score(train[:150]), "seconds": round(time.time() - start)}), flush=True)
            sums = []


if __name__ == "__main__":
    main()
