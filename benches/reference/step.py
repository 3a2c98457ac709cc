#!/usr/bin/env python3
"""The paper's model in plain PyTorch and transformers: the reference implementation of `tiered bench`.

It follows the authors' program. Every pair is padded to the training pairs' largest number of entities, to the longest
story, and to 16 tokens per input. Every input is encoded, however often it occurs. The 40 heads are 40 modules. `--bf16`
computes under `torch.autocast`. `--distinct` makes a good program of it: each distinct input of a step is encoded once,
padded to the longest one, entities are padded to the step's largest number, and AdamW is fused. `tiered bench --reference
DIR` writes the steps and the weights. Before anything is timed, the logits of the first pair are compared with those of
`tiered`. Each step is repeated in rounds, and its time is the median.

usage: step.py DIR [--bf16] [--distinct] [--device cpu|cuda] [--pairs-per-step N,N] [--steps N] [--rounds N] [--threads N]
               [--output FILE]    (FILE gets a line of JSON for each number of pairs a step)
"""
import argparse
import json
import pathlib
import resource
import statistics
import sys
import time

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F
from transformers import AutoModel

CLASSES = [3] * 5 + [9] + [3] * 14  # of the 20 attributes, one side
TOKENS = 16                         # the authors truncate and pad to this many
TOLERANCE = 1e-3                    # of logits, in float32


class StateHead(nn.Module):
    def __init__(self, hidden, classes, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.dense = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.out(self.dropout(torch.tanh(self.dense(self.dropout(x)))))


class ConflictDetector(nn.Module):
    def __init__(self, hidden, sentences, config, dropout):
        super().__init__()
        width = config["width"]
        self.dropout = nn.Dropout(dropout)
        self.embedding = nn.Linear(hidden, width // 2)
        self.states = nn.Linear(2 * sum(CLASSES), width // 2)
        layer = nn.TransformerEncoderLayer(width, config["heads"], config["feed_forward"], dropout, batch_first=True)
        self.transformer = nn.TransformerEncoder(layer, config["layers"], enable_nested_tensor=False)
        self.out = nn.Linear(sentences * width, sentences)

    def forward(self, embeddings, states, mask):
        """[R, N, H], [R, N, 132], [R, N] true where there is a sentence -> conflict logits [R, N]"""
        parts = [self.embedding(self.dropout(embeddings)), self.states(self.dropout(states.detach()))]
        x = self.transformer(self.dropout(torch.cat(parts, 2)), src_key_padding_mask=~mask)
        return self.out(self.dropout((x * mask[:, :, None]).flatten(1)))


class TieredModel(nn.Module):
    def __init__(self, setup):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(setup["encoder"], add_pooling_layer=False)
        hidden, dropout = self.encoder.config.hidden_size, setup["dropout"]
        heads = lambda: nn.ModuleList(StateHead(hidden, classes, dropout) for classes in CLASSES)
        self.preconditions, self.effects = heads(), heads()
        self.detector = ConflictDetector(hidden, setup["sentences"], setup["detector"], dropout)

    def forward(self, ids, attention_mask, cells, sentence_mask):
        """[U, T] token ids, [B, 2, E, N] which of them a cell reads -> logits by head [B, 2, E, N, K], conflict_logits [B, 2, E, N]"""
        b, s, e, n = cells.shape
        of_cells = cells.flatten()
        embeddings = self.encoder(ids, attention_mask=attention_mask).last_hidden_state[:, 0]
        read = lambda x: x[of_cells].view(b, s, e, n, -1)
        preconditions = [read(head(embeddings)) for head in self.preconditions]
        effects = [read(head(embeddings)) for head in self.effects]
        embeddings = read(embeddings)
        states = torch.cat(preconditions + effects, -1)
        mask = sentence_mask.flatten(0, 2)
        conflict_logits = self.detector(embeddings.flatten(0, 2), states.flatten(0, 2), mask).view(b, s, e, n)
        return preconditions, effects, conflict_logits

    def load_heads(self, weights):
        """From the names of `tiered`, which keeps the heads of a side in one matrix."""
        for side in ("preconditions", "effects"):
            hidden = self.encoder.config.hidden_size
            dense = {kind: weights[f"{side}.dense.{kind}"].split(hidden) for kind in ("weight", "bias")}
            out = {kind: weights[f"{side}.out.{kind}"].split(CLASSES) for kind in ("weight", "bias")}
            for a, head in enumerate(getattr(self, side)):
                head.dense.load_state_dict({kind: dense[kind][a] for kind in dense})
                head.out.load_state_dict({kind: out[kind][a] for kind in out})
        prefix = "detector."
        detector = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
        self.detector.load_state_dict(
            {f"transformer.{name}" if name.startswith("layers.") else name: value for name, value in detector.items()})


def story_scores(conflict_logits, real):
    """Minus half the sum of a story's conflict_logits. [B, 2, E, N] -> [B, 2]"""
    return -(conflict_logits.float().sigmoid() * real).sum((2, 3)) / 2


class Batch:
    """Pairs as padded tensors."""

    def __init__(self, pairs, tokenizer, entities, sentences, device, distinct=False):
        if distinct:
            entities = max(len(story["entities"]) for pair in pairs for story in pair["stories"])
        b, shape = len(pairs), (len(pairs), 2, entities, sentences)
        self.real = torch.zeros(shape, dtype=torch.bool)
        self.sentence_mask = torch.zeros(shape, dtype=torch.bool)
        self.labels = {side: torch.zeros(*shape, len(CLASSES), dtype=torch.long) for side in ("preconditions", "effects")}
        self.conflicts = torch.zeros(shape)
        self.plausible = torch.tensor([pair["plausible"] for pair in pairs])
        texts = [("", "")] * (b * 2 * entities * sentences)
        for i, pair in enumerate(pairs):
            for s, story in enumerate(pair["stories"]):
                count = len(story["sentences"])
                self.sentence_mask[i, s, :, :count] = True
                for e, entity in enumerate(story["entities"]):
                    self.real[i, s, e, :count] = True
                    for side, labels in self.labels.items():
                        labels[i, s, e, :count] = torch.tensor(entity[side])
                    for sentence in entity["conflict"] or []:
                        self.conflicts[i, s, e, sentence] = 1
                    start = ((i * 2 + s) * entities + e) * sentences
                    texts[start:start + count] = [(entity["name"], sentence) for sentence in story["sentences"]]
        numbers = {text: i for i, text in enumerate(dict.fromkeys(texts))} if distinct else None
        encoded = tokenizer.encode_batch(list(numbers) if distinct else texts)
        self.ids = torch.tensor([one.ids for one in encoded])
        self.attention_mask = torch.tensor([one.attention_mask for one in encoded])
        cells = [numbers[text] for text in texts] if distinct else range(len(texts))
        self.cells = torch.tensor(list(cells)).view(shape)
        for name in ("real", "sentence_mask", "conflicts", "plausible", "ids", "attention_mask", "cells"):
            setattr(self, name, getattr(self, name).to(device))
        self.labels = {side: labels.to(device) for side, labels in self.labels.items()}

    def inputs(self):
        return self.ids, self.attention_mask, self.cells, self.sentence_mask


def make_tokenizer(setup, tokens):
    """To exactly `tokens` tokens; to the longest of a batch, without truncation, if that is None."""
    tokenizer = Tokenizer.from_file(setup["tokenizer"])
    tokenizer.no_truncation()
    if tokens is not None:
        tokenizer.enable_truncation(tokens)
    tokenizer.enable_padding(pad_id=1, pad_token="<pad>", length=tokens)
    return tokenizer


def total_loss(output, batch, weights):
    preconditions, effects, conflict_logits = output

    def of_states(logits, labels):
        losses = [F.cross_entropy(head.float().flatten(0, 3), labels[..., a].flatten()) for a, head in enumerate(logits)]
        return sum(losses) / len(CLASSES)

    return (weights["preconditions"] * of_states(preconditions, batch.labels["preconditions"])
            + weights["effects"] * of_states(effects, batch.labels["effects"])
            + weights["conflicts"] * F.binary_cross_entropy_with_logits(conflict_logits.float(), batch.conflicts)
            + weights["story"] * F.cross_entropy(story_scores(conflict_logits, batch.real), batch.plausible))


def check(model, setup, expected, device):
    """The largest difference between a logit of the first pair and that of `tiered`. Both are in float32, and neither
    truncates."""
    batch = Batch(setup["pairs"][:1], make_tokenizer(setup, None), setup["entities"], setup["sentences"], device)
    model.eval()
    with torch.no_grad():
        preconditions, effects, conflict_logits = model(*batch.inputs())
    real = batch.real
    ours = {"precondition_logits": torch.cat(preconditions, -1)[real], "effect_logits": torch.cat(effects, -1)[real],
            "conflict_logits": conflict_logits[real], "story_scores": story_scores(conflict_logits, real)}
    difference = max((ours[name].cpu() - expected[name]).abs().max().item() for name in ours)
    if not difference <= TOLERANCE:
        sys.exit(f"error: the logits of the reference implementation differ from those of tiered by {difference:.2g}")
    return difference


def seconds_of(batches, run, device, rounds):
    """The seconds of each batch: the median over the rounds, after a batch to warm up. On a GPU every batch warms up:
    its libraries choose kernels for each new shape."""
    is_gpu = device.type == "cuda"
    wait = torch.cuda.synchronize if is_gpu else lambda: None
    for batch in batches if is_gpu else batches[:1]:
        run(batch)
    times = [[] for _ in batches]
    for _ in range(rounds):
        for batch, seconds in zip(batches, times):
            wait()
            start = time.perf_counter()
            run(batch)
            wait()
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in times]


def measure(model, optimiser, setup, size, arguments):
    """Training and evaluation at a number of pairs a step; None if the GPU's memory is too small."""
    device, adamw = arguments.device, setup["adamw"]
    tokenizer = make_tokenizer(setup, None if arguments.distinct else TOKENS)

    def batch_of(step):
        pairs = [setup["pairs"][pair] for pair in step]
        return Batch(pairs, tokenizer, setup["entities"], setup["sentences"], device, arguments.distinct)

    def autocast():
        return torch.autocast(device.type, dtype=torch.bfloat16, enabled=arguments.bf16)

    def train(batch):
        optimiser.zero_grad()
        with autocast():
            loss = total_loss(model(*batch.inputs()), batch, setup["loss"])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), adamw["clip_norm"])
        optimiser.step()

    def evaluate(batch):
        with torch.no_grad(), autocast():
            model(*batch.inputs())

    batches = [batch_of(step) for step in setup["steps"][str(size)][:arguments.steps]]
    pairs = size * len(batches)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    try:
        model.train()
        train_seconds = seconds_of(batches, train, device, arguments.rounds)
        model.eval()
        eval_seconds = seconds_of(batches, evaluate, device, arguments.rounds)
    except torch.cuda.OutOfMemoryError:
        return None
    finally:
        optimiser.zero_grad()

    def speed(seconds):
        # Padded steps all cost the same.
        step = statistics.mean(seconds) if arguments.distinct else statistics.median(seconds)
        return {"pairs_per_second": size / step, "seconds": seconds}

    return {
        "pairs_per_step": size,
        "steps": len(batches),
        "encoder_inputs_per_pair": sum(batch.ids.shape[0] for batch in batches) / pairs,
        "train": speed(train_seconds),
        "eval": speed(eval_seconds),
        "gpu_memory": torch.cuda.max_memory_reserved(device) if device.type == "cuda" else None,
        "peak_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def load(folder, device):
    """The model that `tiered bench --reference` wrote, after a comparison of its logits: settings, model, difference."""
    setup = json.loads((folder / "pairs.json").read_text())
    model = TieredModel(setup)
    model.load_heads(load_file(folder / "heads.safetensors"))
    model.to(device)
    return setup, model, check(model, setup, load_file(folder / "expected.safetensors"), device)


def program(setup, model, difference, sizes, arguments):
    """A result for each number of pairs a step, printed as soon as it is there. `arguments` are those of the command line."""
    device, adamw = arguments.device, setup["adamw"]
    common = {
        "precision": "bf16" if arguments.bf16 else "fp32",
        "distinct": arguments.distinct,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "logit_difference": difference,
    }
    optimiser = torch.optim.AdamW(model.parameters(), lr=setup["learning_rate"], betas=(adamw["beta1"], adamw["beta2"]),
                                  eps=adamw["epsilon"], weight_decay=adamw["weight_decay"], fused=arguments.distinct)
    for size in sizes:
        result = measure(model, optimiser, setup, size, arguments)
        print(described(result, size, common), flush=True)
        yield {**common, **(result or {"pairs_per_step": size, "out_of_memory": True})}


def described(result, size, common):
    name = f"PyTorch {common['precision']}, {'distinct' if common['distinct'] else 'padded'}, {size} pair{'s' * (size > 1)} a step"
    if result is None:
        return f"{name}: the GPU's memory is too small"
    return (f"{name}: {result['train']['pairs_per_second']:.3f} pairs/s in training, {result['eval']['pairs_per_second']:.3f} "
            f"in evaluation, {(result['gpu_memory'] or result['peak_memory']) / 1e9:.2f} GB, "
            f"{result['encoder_inputs_per_pair']:.0f} inputs a pair; logits differ by {common['logit_difference']:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--distinct", action="store_true")
    parser.add_argument("--device", type=torch.device, default="cpu")
    parser.add_argument("--pairs-per-step", default="1", help="numbers, separated by commas")
    parser.add_argument("--steps", type=int, help="only the first N of each size")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--output", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)

    sizes = map(int, arguments.pairs_per_step.split(","))
    results = list(program(*load(arguments.folder, arguments.device), sizes, arguments))
    if arguments.output:
        arguments.output.write_text("".join(json.dumps(result) + "\n" for result in results))


if __name__ == "__main__":
    main()
