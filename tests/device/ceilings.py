#!/usr/bin/env python3
"""What a device reaches at best, measured by PyTorch: the ceilings that run.sh's numbers are compared with.

  ceilings.py cuda|cpu SIDE     one JSON object: copying 2 GB, a product of SIDE in BF16, launches of a tiny kernel
                                alone and in a graph
"""
import json
import sys
import time

import torch


def best(run, wait, count, repeat=5):
    """Seconds of one of `count` runs in a row, the least of several measurements."""
    run()
    wait()
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(count):
            run()
        wait()
        seconds.append((time.perf_counter() - start) / count)
    return min(seconds)


def main():
    device, side = sys.argv[1], int(sys.argv[2])
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    numbers = 2**28 if device == "cuda" else 2**20  # of 4 bytes, read and written
    source = torch.randn(numbers, device=device)
    target = torch.empty_like(source)
    seconds = best(lambda: target.copy_(source), wait, 20)
    found = {"device": device, "pytorch": torch.__version__, "copy_terabytes_per_second": 8e-12 * numbers / seconds}
    del source, target
    a = torch.randn(side, side, device=device, dtype=torch.bfloat16)
    b = torch.randn(side, side, device=device, dtype=torch.bfloat16)
    seconds = best(lambda: a @ b, wait, 5)
    found["product_side"] = side
    found["product_teraflops_per_second"] = 2e-12 * side**3 / seconds
    one = torch.zeros(1, device=device)
    found["launch_microseconds"] = 1e6 * best(lambda: one.add_(1), wait, 500)
    if device == "cuda":
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(500):
                one.add_(1)
        found["launch_in_graph_microseconds"] = 1e6 * best(graph.replay, wait, 3) / 500
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
