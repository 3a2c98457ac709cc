#!/usr/bin/env python3
"""Trains TRIP's model end to end in PyTorch and transformers, to compare `tiered train` with it.

After every epoch it prints a line of JSON: the losses, and the tiers on dev by both decodings. The options have the names
of the config keys of `tiered`. Their defaults are the paper's.

usage: train.py --train FILE:SPLIT[:KIND[:PAIRS]] ... --dev FILE:SPLIT [--epochs N] [--pairs-per-step N] [...]
"""
import argparse
import json
import random
import time

import torch
from transformers import AutoModel, AutoTokenizer

from batches import Batch
from metrics import evaluate
from model import TieredModel, conflict_losses, half_precision, state_losses, story_scores
from stories import read_pairs


def read(sources, seed):
    """`FILE:SPLIT[:KIND[:PAIRS]]`, several"""
    pairs = []
    for source in sources:
        file, split, kind, count = (source.split(":") + ["", ""])[:4]
        pairs += read_pairs(file, split, kind or None, seed)[:int(count) if count else None]
    return pairs


def losses_of(model, batch, weights):
    """-> the weighted sum, and Lp, Lf, Lc, Ls"""
    with half_precision():
        states, conflicts = model(batch)
    parts = [*state_losses(states, batch), *conflict_losses(conflicts, batch)]
    return sum(weight * part for weight, part in zip(weights, parts)), [part.item() for part in parts]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", nargs="+", required=True)
    parser.add_argument("--dev", nargs="+", required=True)
    parser.add_argument("--encoder", default="checkpoints/encoders/e5-small")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--steps", type=int, help="stop after this many steps; the schedule is still that of all epochs")
    parser.add_argument("--pairs-per-step", type=int, default=1)
    parser.add_argument("--learning-rate", type=float, default=1e-5)
    parser.add_argument("--head-learning-rate", type=float)
    parser.add_argument("--warmup", type=float, default=0.0)
    parser.add_argument("--schedule", choices=["constant", "linear"], default="constant")
    parser.add_argument("--loss", type=float, nargs=4, default=[0.4, 0.4, 0.2, 0.0], metavar="WEIGHT")
    parser.add_argument("--inputs", choices=["both", "embeddings", "states"], default="both")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--norm", choices=["after", "before"], default="after")
    parser.add_argument("--freeze-embeddings", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    rng = random.Random(arguments.seed)

    train, dev = read(arguments.train, arguments.seed), read(arguments.dev, arguments.seed)
    sentences = max(len(story.sentences) for pair in train + dev for story in pair.stories)
    tokenizer = AutoTokenizer.from_pretrained(arguments.encoder)
    encoder = AutoModel.from_pretrained(arguments.encoder, add_pooling_layer=False)
    dropout = encoder.config.hidden_dropout_prob
    model = TieredModel(encoder, sentences, dropout, inputs=arguments.inputs, layers=arguments.layers, norm=arguments.norm)
    set_output_bias(model, train)
    if arguments.freeze_embeddings:
        model.encoder.embeddings.requires_grad_(False)

    of_encoder = [p for p in model.encoder.parameters() if p.requires_grad]
    of_rest = [p for name, p in model.named_parameters() if not name.startswith("encoder.")]
    head_rate = arguments.head_learning_rate or arguments.learning_rate
    optimiser = torch.optim.AdamW([{"params": of_encoder, "lr": arguments.learning_rate}, {"params": of_rest, "lr": head_rate}],
                                  eps=1e-6, weight_decay=0.0)
    epoch_steps = -(-len(train) // arguments.pairs_per_step)
    steps = arguments.epochs * epoch_steps
    warm = max(1, round(arguments.warmup * steps))

    def factor(step):
        if step < warm:
            return (step + 1) / warm
        return 1.0 if arguments.schedule == "constant" else (steps - step) / (steps - warm)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, factor)

    def predict(batch):
        with torch.no_grad(), half_precision():
            states, conflicts = model(batch)
        return states, conflicts, story_scores(conflicts, batch)

    start, step = time.time(), 0
    for epoch in range(1, arguments.epochs + 1):
        order, sums, taken = rng.sample(range(len(train)), len(train)), torch.zeros(4), 0
        model.train()
        for first in range(0, len(train), arguments.pairs_per_step):
            pairs = [train[i] for i in order[first:first + arguments.pairs_per_step]]
            loss, parts = losses_of(model, Batch(pairs, sentences, tokenizer), arguments.loss)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            sums, taken, step = sums + torch.tensor(parts), taken + 1, step + 1
            if step % 20 == 0:
                print(json.dumps({"step": step, "losses": [round(x, 4) for x in parts], "seconds": round(time.time() - start)}), flush=True)
            if step == arguments.steps:
                break
        model.eval()
        tiers = evaluate(dev, (Batch(dev[i:i + 8], sentences, tokenizer) for i in range(0, len(dev), 8)), predict)
        print(json.dumps({"epoch": epoch, "step": step, "train": [round(x, 4) for x in (sums / taken).tolist()], "dev": tiers,
                          "seconds": round(time.time() - start)}), flush=True)
        if step == arguments.steps:
            break


def set_output_bias(model, train):
    """Initialises the last biases to the log frequency of each class, and the detector's to the log odds of a conflict."""
    labels = torch.cat([story.labels.flatten(1, 2) for pair in train for story in pair.stories], 1)  # [2, cells, 20]
    conflicts = torch.cat([story.conflicts.flatten() for pair in train for story in pair.stories]).mean()
    with torch.no_grad():
        for side, heads in enumerate((model.preconditions, model.effects)):
            for a, head in enumerate(heads):
                counts = torch.bincount(labels[side, :, a], minlength=head[-1].out_features) + 1.0
                head[-1].bias.copy_((counts / counts.sum()).log())
        model.detector.out.bias.fill_(torch.logit(conflicts))


if __name__ == "__main__":
    main()
