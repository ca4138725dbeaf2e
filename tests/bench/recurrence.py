#!/usr/bin/env python3
"""A recurrent layer's forward and backward: Headscope's and torch.nn.LSTM's or GRU's, in turns on the same CPU.

    tests/bench/recurrence.py build/release/tests/bench_recurrence
    tests/bench/recurrence.py build/release/tests/bench_recurrence --cell gru --batch 32 --length 50 --d 512 --rounds 15

Each round times one pass of either; medians are printed, and the median of the rounds' ratios. Gradients of the inputs
and of all weights are computed.
"""
import argparse
import statistics
import subprocess
import time

import torch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--cell", choices=["lstm", "gru"], default="lstm")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--length", type=int, default=50)
    parser.add_argument("--d", type=int, default=512)
    parser.add_argument("--bidirectional", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    directions = 2 if args.bidirectional else 1
    kind = torch.nn.LSTM if args.cell == "lstm" else torch.nn.GRU
    layer = kind(args.d, args.d, batch_first=True, bidirectional=args.bidirectional)
    x = torch.randn(args.batch, args.length, args.d, requires_grad=True)
    grad = torch.randn(args.batch, args.length, directions * args.d)

    def torch_pass():
        begin = time.perf_counter()
        y, _ = layer(x)
        y.backward(grad)
        elapsed = 1e3 * (time.perf_counter() - begin)
        x.grad = None
        layer.zero_grad(set_to_none=True)
        return elapsed

    command = [args.program, args.cell, *map(str, (args.batch, args.length, args.d, directions, args.threads))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ours:

        def our_pass():
            ours.stdin.write("\n")
            ours.stdin.flush()
            return float(ours.stdout.readline())

        for _ in range(3):
            torch_pass(), our_pass()
        pairs = [(torch_pass(), our_pass()) for _ in range(args.rounds)]
        ours.stdin.close()
    theirs, own = (statistics.median(each) for each in zip(*pairs))
    ratio = statistics.median(a / b for a, b in pairs)
    print(
        f"{args.cell}{' bidirectional' if args.bidirectional else ''} batch {args.batch} length {args.length} d {args.d}"
        f" threads {args.threads}: PyTorch {torch.__version__} {theirs:.1f} ms, Headscope {own:.1f} ms,"
        f" ratio {ratio:.2f}"
    )


if __name__ == "__main__":
    main()
