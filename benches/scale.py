#!/usr/bin/env python3
"""What many pairs cost with a large encoder, from a measurement of `tiered bench` and the share of a GPU's rate that is reached.

The operations of a pair are those that the bench counts (src/bench/operations.rs). Prints the table of docs/scale.md.

usage: scale.py BENCH.json --mfu SHARE [--pairs N] [--peak FLOP/s] [--link BYTES/s] [--cable BYTES/s]
"""
import argparse
import json

IN_A_NODE = 8


def hours(seconds):
    return f"{seconds / 3600:,.1f} h" if seconds < 72 * 3600 else f"{seconds / 86400:,.0f} days"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=argparse.FileType())
    parser.add_argument("--pairs", type=float, default=1e7)
    parser.add_argument("--peak", type=float, default=989e12, help="of the matmuls of a GPU (H100 SXM, bf16, data sheet)")
    parser.add_argument("--mfu", type=float, required=True, help="model FLOPs utilisation of the whole step (docs/gpu.md)")
    parser.add_argument("--link", type=float, default=450e9, help="between GPUs of a node (NVLink 4, data sheet)")
    parser.add_argument("--cable", type=float, default=50e9, help="between nodes, for each GPU (400 Gbit/s)")
    arguments = parser.parse_args()
    bench = json.load(arguments.bench)
    size = bench["sizes"][-1]
    pairs_a_step = size["pairs_per_step"]
    operations = size["encoder"]["gflop"] * 1e9 / pairs_a_step
    gradients = 4 * bench["trained_parameters"]
    compute = pairs_a_step * operations / (arguments.peak * arguments.mfu)
    measured = size["train"]["pairs_per_second"]
    print(f"measured: {bench['threads']} threads, {pairs_a_step} pairs a step, {size['tokens_per_pair']:.0f} tokens and "
          f"{operations / 1e12:.2f} TFLOP a pair, {measured:.3f} pairs/s, {size['encoder']['share_of_step']:.0%} MFU; "
          f"{gradients / 1e9:.2f} GB of gradients\n")
    print("| | a step's computation | its exchange | pairs/s | all pairs | lost to the exchange |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    print(f"| measured: {bench['threads']} cores | {pairs_a_step / measured:.1f} s | | {measured:.2f} | {hours(arguments.pairs / measured)} | |")
    for gpus in (1, 8, 64):
        rate = arguments.link if gpus <= IN_A_NODE else arguments.cable
        exchange = 2 * (gpus - 1) / gpus * gradients / rate  # a ring, after the backward pass
        speed = gpus * pairs_a_step / (compute + exchange)
        lost = exchange / (compute + exchange)
        print(f"| {gpus} GPU{'s' * (gpus > 1)} | {compute * 1e3:.0f} ms | {exchange * 1e3:.0f} ms | {speed:,.0f} | "
              f"{hours(arguments.pairs / speed)} | {lost:.0%} |")


if __name__ == "__main__":
    main()
