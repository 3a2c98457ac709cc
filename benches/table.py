#!/usr/bin/env python3
"""Writes the tables of benches/README.md between `<!-- bench -->` and `<!-- end -->`: one part for each
results/bench-MAKE.json, so that the last results of every make of processor, and generation of AMD's, stand side by side; and between `<!-- gpu -->`
and `<!-- end -->` those of results/gpu.json.

usage: table.py [--check]      (--check: fail if the tables are out of date)
"""
import json
import pathlib
import re
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / "README.md"
RESULTS = HERE / "results"
PHASES = ["data", "encoder_forward", "heads", "detector", "losses", "heads_backward", "encoder_backward", "optimiser"]


def median(values):
    return statistics.median(list(values))


def largest(values):
    """The largest known value."""
    return max((value for value in values if value is not None), default=None)


def gigabytes(size):
    return "unknown" if size is None else f"{size / 1e9:.2f} GB"


def table(header, rows):
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


class Result:
    """Medians over the rounds of a run."""

    def __init__(self, result):
        self.rounds = result["rounds"]
        self.base = result["xlm_roberta_base"]
        self.raw = result
        self.precisions = [reference["precision"] for reference in self.rounds[0]["references"]]
        self.sizes = [size["pairs_per_step"] for size in self.rounds[0]["tiered"]["sizes"]]
        self.best = max(self.sizes, key=lambda size: self.speed(size, "train"))

    def of_size(self, pairs_per_step):
        """The measurements at a size, one for each round."""
        return [size for one in self.rounds for size in one["tiered"]["sizes"]
                if size["pairs_per_step"] == pairs_per_step]

    def speed(self, pairs_per_step, what):
        return median(size[what]["pairs_per_second"] for size in self.of_size(pairs_per_step))

    def encoder(self, pairs_per_step, what):
        return median(size["encoder"][what] for size in self.of_size(pairs_per_step))

    def references(self, precision):
        return [reference for one in self.rounds for reference in one["references"] if reference["precision"] == precision]

    def reference_speed(self, precision, what):
        return median(reference[what]["pairs_per_second"] for reference in self.references(precision))

    def reference_memory(self, precision):
        return largest(reference["peak_memory"] for reference in self.references(precision))

    def memory(self, pairs_per_step, with_loading):
        """The peak over the rounds. The reference's peak includes loading, so it is compared with ours including loading."""
        peaks = [size["peak_memory"] for size in self.of_size(pairs_per_step)]
        loading = [one["tiered"]["memory"]["loading"] for one in self.rounds] if with_loading else []
        return None if None in peaks else largest(peaks + loading)

    def matmul_rate(self):
        tiered = [one["tiered"] for one in self.rounds]
        return tiered[0]["precision"], max(one["matmuls"][one["precision"]] for one in tiered)


def speeds(result):
    rows = []
    reference = {what: result.reference_speed("fp32", what) for what in ("train", "eval")}

    def row(name, train, evaluation, memory):
        ratios = [f"{train / reference['train']:.1f}", f"{evaluation / reference['eval']:.1f}"]
        rows.append([name, f"{train:.3f}", ratios[0], f"{evaluation:.3f}", ratios[1], gigabytes(memory)])

    for precision in result.precisions:
        speed = [result.reference_speed(precision, what) for what in ("train", "eval")]
        row(f"PyTorch, {precision}, 1 pair a step", *speed, result.reference_memory(precision))
    for size in result.sizes:
        name = f"`tiered`, {result.matmul_rate()[0]}, {size} pair{'s' * (size > 1)} a step"
        row(name, result.speed(size, "train"), result.speed(size, "eval"), result.memory(size, with_loading=True))
    return table(["", "train pairs/s", "times the fp32 reference", "eval pairs/s", "times the fp32 reference", "peak memory"], rows)


def profile(result):
    rows = []
    for size in result.sizes:
        phases = [1e3 * median(one["phases"][phase] for one in result.of_size(size)) for phase in PHASES]
        step = 1e3 * size / result.speed(size, "train")
        rows.append([str(size), *(f"{ms:.1f}" for ms in phases), f"{step:.1f}"])
    return table(["pairs a step", *(phase.replace("_", " ") for phase in PHASES), "whole step"], rows)


def encoder(result):
    rows = []
    for size in result.sizes:
        tokens = result.of_size(size)[0]["tokens_per_pair"]
        throughput = median(one["train"]["tokens_per_second"] for one in result.of_size(size))
        shares = [f"{100 * result.encoder(size, what):.0f} %" for what in ("share", "share_of_step")]
        rows.append([str(size), f"{tokens:.0f}", f"{throughput:.0f}", f"{result.encoder(size, 'gflops'):.0f}", *shares])
    return table(["pairs a step", "unique tokens a pair", "tokens/s in training", "GFLOP/s in the encoder",
                  "MFU in the encoder", "MFU over the whole step"], rows)


def targets(result):
    """The targets of the project, and the measurements."""
    reference, precision_rate = result.reference_speed("fp32", "train"), result.matmul_rate()
    ratio = {size: result.speed(size, "train") / reference for size in (1, result.best)}
    ours, theirs = result.memory(1, with_loading=True), result.reference_memory("fp32")
    memory = "unknown" if ours is None else f"{ours / theirs:.2f}"
    costs = [one["tiered"]["cost"] for one in result.rounds if one["tiered"]["cost"]]
    r_squared = f"{median(cost['r_squared'] for cost in costs):.4f}" if costs else "too few steps"
    base = result.base["sizes"][0]
    best = f"{result.best} pair{'s' * (result.best > 1)} a step"
    rows = [
        ["training, 1 pair a step, times the padded fp32 reference", f"{ratio[1]:.1f}", "20"],
        [f"training, {best}, times the padded fp32 reference", f"{ratio[result.best]:.1f}", "30"],
        *([f"training, {best}, times the padded {precision} reference",
           f"{result.speed(result.best, 'train') / result.reference_speed(precision, 'train'):.1f}", ""]
          for precision in result.precisions if precision != "fp32"),
        [f"encoder at {best}, model FLOPs utilisation (fastest {precision_rate[0]} matmuls: {precision_rate[1]:.0f} GFLOP/s)",
         f"{100 * result.encoder(result.best, 'share'):.0f} %", "50 %"],
        ["peak memory at 1 pair a step, of the fp32 reference's", memory, "below 0.33"],
        ["step time linear in unique tokens, R²", r_squared, ""],
        [f"XLM-R base, 10 epochs of 799 pairs, {base['pairs_per_step']} pairs a step", f"{base['full_trip_hours']:.2f} h",
         "below 2 h"],
        [f"XLM-R base, model FLOPs utilisation ({precision_rate[0]})", f"{100 * base['encoder']['share']:.0f} %", ""],
    ]
    return table(["", "measured", "target"], rows)


def text(raw):
    result, machine = Result(raw), raw["machine"]
    difference = max(reference["logit_difference"] for one in raw["rounds"] for reference in one["references"])
    pairs = {"TRIP": "TRIP's training pairs", "sample": "the sample stories"}[raw["data"]]
    return "\n\n".join([
        f"{raw['date']}, {cpu(machine)}, {machine['cores']} cores, libtorch {machine['libtorch']}, `tiered` "
        f"{machine['tiered']}, {pairs}; {raw['seconds']} s, {len(raw['rounds'])} rounds. Largest difference between a logit "
        f"of the reference and of `tiered`, both in float32: {difference:.1e}.",
        targets(result), speeds(result),
        "The encoder, forward and backward:", encoder(result), "Milliseconds per training step:", profile(result)])


def cpu(machine):
    """The processor, with its generation if that is known."""
    return machine["cpu"] + (f", {machine['generation']}" if machine.get("generation") else "")


def part(path):
    """The heading, tables and plot of a make and generation of processor."""
    raw, plot = json.loads(path.read_text()), path.name.replace("bench-", "cost-").replace(".json", ".svg")
    return f"### {cpu(raw['machine'])}\n\n{text(raw)}\n\n![Seconds of a step by unique tokens](results/{plot})"


ENCODERS = {"small": "the config's encoder", "base": "xlm-roberta-base, random weights", "large": "xlm-roberta-large, random weights"}
NOT_RUN = "Not run yet: `make bench-gpu`."
PROGRAMS = {"distinct_bf16": "good PyTorch, bf16", "padded_bf16": "padded PyTorch, bf16", "padded_fp32": "padded PyTorch, fp32"}


def gpu_rows(encoder):
    """A row for each program and number of pairs a step."""
    by_size = {name: {one["pairs_per_step"]: one for one in encoder[name]} for name in PROGRAMS}
    ours = {size["pairs_per_step"]: size for size in encoder["tiered"]["sizes"]}

    def speed(one, what):
        return one[what]["pairs_per_second"] if one and what in one else None

    def cells(size, one, what):
        own = speed(one, what)
        ratios = [speed(by_size[name].get(size), what) for name in ("distinct_bf16", "padded_fp32")]
        return [f"{own:.1f}"] + [f"{own / other:.2f}" if other else "" for other in ratios]

    for size, one in ours.items():
        memory = gigabytes(one["gpu_memory"] and one["gpu_memory"]["reserved"])
        shares = [f"{100 * one['encoder'][what]:.0f} %" for what in ("share", "share_of_step")]
        yield [f"`tiered`, {encoder['tiered']['precision']}, {size}", *cells(size, one, "train"), *cells(size, one, "eval"), memory, *shares]
    for name, title in PROGRAMS.items():
        for size, one in by_size[name].items():
            if "train" in one:
                speeds = [*cells(size, one, "train"), *cells(size, one, "eval")]
                yield [f"{title}, {size}", *speeds, gigabytes(one["gpu_memory"]), "", ""]
            else:
                yield [f"{title}, {size}", "out of memory"] + [""] * 8


def gpu_text(raw):
    machine = raw["machine"]
    pairs = {"TRIP": "TRIP's training pairs", "sample": "the sample stories"}[raw["data"]]
    gpu = next(iter(raw["encoders"].values()))["tiered"]["gpu"]
    parts = [f"{raw['date']}, {gpu}, {machine['cpu']}, libtorch {machine['libtorch']}, PyTorch {machine['pytorch']}, `tiered` "
             f"{machine['tiered']}, {pairs}."]
    header = ["pairs a step", "train pairs/s", "times good PyTorch", "times padded fp32", "eval pairs/s", "times good PyTorch",
              "times padded fp32", "GPU memory", "MFU in the encoder", "MFU over the whole step"]
    for name, encoder in raw["encoders"].items():
        difference = max(one.get("logit_difference", 0) for program in PROGRAMS for one in encoder[program])
        rate = encoder["tiered"]["matmuls"]["bf16"] / 1e3
        sizes = encoder["tiered"]["encoder"]
        parts.append(f"**{ENCODERS[name]}** ({sizes['num_hidden_layers']} layers, hidden size {sizes['hidden_size']}). Fastest bf16 "
                     f"matmuls: {rate:.0f} TFLOP/s. Largest difference between a logit of PyTorch's program and of `tiered`, both in "
                     f"float32: {difference:.1e}.")
        parts.append(table(header, list(gpu_rows(encoder))))
    return "\n\n".join(parts)


def filled(page):
    gpu = RESULTS / "gpu.json"
    on_gpu = gpu_text(json.loads(gpu.read_text())) if gpu.exists() else NOT_RUN
    page = re.sub(r"<!-- gpu -->.*?<!-- end -->", lambda _: f"<!-- gpu -->\n\n{on_gpu}\n\n<!-- end -->", page, flags=re.S)
    results = sorted(RESULTS.glob("bench-*.json"))
    found = "\n\n".join(map(part, results)) or "Not run yet: `make bench`."
    return re.sub(r"<!-- bench -->.*?<!-- end -->", lambda _: f"<!-- bench -->\n\n{found}\n\n<!-- end -->", page, flags=re.S)


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    old = PAGE.read_text()
    new = filled(old)
    if arguments and new != old:
        sys.exit(f"{PAGE}: its tables are out of date; run benches/table.py")
    if not arguments:
        PAGE.write_text(new)


if __name__ == "__main__":
    main(sys.argv[1:])
