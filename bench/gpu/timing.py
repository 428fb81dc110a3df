"""Times on a GPU: CUDA events around each run, the L2 cache flushed before it, contenders in turns, medians.

    flush | event | run | event | flush | event | run | event | ...       the host is ahead of the device while that flushes
"""

import statistics
import time

import torch

ROUNDS = 3
FEWEST, MOST = 7, 30  # runs a round


class Clock:
    """On a processor, which runs emulated kernels, a clock of the host."""

    def __init__(self, device):
        self.on_gpu = device == "cuda"
        if not self.on_gpu:
            return
        bytes_ = max(2 * torch.cuda.get_device_properties(0).L2_cache_size, 1 << 27)
        self.scratch = torch.empty(bytes_, dtype=torch.uint8, device="cuda")

    def runs(self, once, count):
        if not self.on_gpu:
            return [self._host_ms(once) for _ in range(count)]
        pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(count)]
        for begin, end in pairs:
            self.scratch.zero_()
            begin.record()
            once()
            end.record()
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) for begin, end in pairs]

    def _host_ms(self, once):
        start = time.perf_counter()
        once()
        return (time.perf_counter() - start) * 1e3

    def compare(self, contenders, budget_ms=600):
        """{name: median ms}, and {name: (first, last quartile)}."""
        per_round = {}
        for name, once in contenders.items():
            first = max(self.runs(once, 3)[1:])
            per_round[name] = min(MOST, max(FEWEST, int(budget_ms / ROUNDS / len(contenders) / max(first, 0.1)))) if self.on_gpu else 1
        times = {name: [] for name in contenders}
        for _ in range(ROUNDS):
            for name, once in contenders.items():
                times[name] += self.runs(once, per_round[name])
        quartiles = {name: statistics.quantiles(t, n=4) for name, t in times.items()}
        return {name: q[1] for name, q in quartiles.items()}, {name: (q[0], q[2]) for name, q in quartiles.items()}
