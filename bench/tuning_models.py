#!/usr/bin/env python3
"""Compares cost models of tuning on measured points: tuning_models.py LOG.jsonl ... (needs xgboost and numpy)

All points that logs have of a kernel are a pool where they are many, each with its least time, so that a machine that does other work in between counts for all models alike. A search
draws 8 points of the pool, learns, takes the 7 that the model expects to be fastest and one at random, and so on. Printed is the mean of 6 seeds: the
trials until a point within 95 % of the pool's best is found. The trees are those of `fusion tune`, on knobs, on knobs and loops, and by rank.
"""

import json
import math
import pathlib
import random
import sys

import numpy as np
import xgboost

SEEDS, BATCH, FEWEST = 6, 8, 100


def pools(paths):
    """By kernel: the features of knobs, those of loops, the estimates and the least times of all points."""
    points = {}
    for path in paths:
        for record in map(json.loads, pathlib.Path(path).read_text().splitlines()):
            if record.get("times_ps") and record.get("loops"):
                of_kernel = points.setdefault((record["name"], record["kernel"]), {})
                least = min(record["times_ps"])
                own = of_kernel.setdefault(json.dumps(record["choices"]), [record, least])
                own[1] = min(own[1], least)
    for (name, _), found in points.items():
        if len(found) < FEWEST:
            continue
        columns = {}
        rows = []
        for record, _ in found.values():
            row = {}
            for choice in record["choices"]:
                at = (choice["kind"], *choice["stages"], choice.get("vector_bytes"))
                row[at] = 1.0
                row.update({(*at, knob): math.log2(1 + max(value, 0)) for knob, value in choice["knobs"]})
            rows.append({columns.setdefault(key, len(columns)): value for key, value in row.items()})
        knobs = np.full((len(rows), len(columns)), -1.0)
        for at, row in enumerate(rows):
            for column, value in row.items():
                knobs[at, column] = value
        records = [record for record, _ in found.values()]
        estimates = np.log(np.array([record["estimate_ps"] for record in records], float))
        times = np.log(np.array([time for _, time in found.values()], float))
        yield name, np.column_stack([estimates, knobs]), np.array([record["loops"] for record in records]), estimates, times


def expected(features, estimates, times, seen, by_rank):
    """What trees that learned of some points expect of all; less is better."""
    how = {"max_depth": 5, "eta": 0.15, "verbosity": 0, "nthread": 1}
    if by_rank:
        labels = np.array([(times[seen] > time).sum() for time in times[seen]], float)
        data = xgboost.DMatrix(features[seen], labels, group=[len(seen)])
        model = xgboost.train({**how, "objective": "rank:pairwise", "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 32}, data, 80)
        return -model.predict(xgboost.DMatrix(features))
    data = xgboost.DMatrix(features[seen], times[seen] - estimates[seen])
    return estimates + xgboost.train(how, data, 80).predict(xgboost.DMatrix(features))


def trials(costs, times, seed):
    """Trials until 95 % of the best, where `costs` says what is expected after some points; none draws at random."""
    draw = random.Random(seed)
    good = set(np.flatnonzero(times <= times.min() - math.log(0.95)))
    left = list(range(len(times)))
    draw.shuffle(left)
    seen = []
    while left:
        batch = left[:BATCH]
        if costs and seen:
            told = costs(seen)
            batch = sorted(left, key=lambda at: told[at])[:BATCH - 1]
            batch += [draw.choice([at for at in left if at not in batch])] if len(left) > len(batch) else []
        for at in batch:
            seen.append(at)
            left.remove(at)
            if at in good:
                return len(seen)
    return len(seen)


def main():
    names = ["knobs", "trees", "rank", "random"]
    print(f"{'kernel':32} {'points':>6}" + "".join(f" {name:>7}" for name in names))
    for kernel, knobs, loops, estimates, times in pools(sys.argv[1:]):
        both = np.column_stack([knobs, loops])
        by_knobs = lambda seen: expected(knobs, estimates, times, seen, False)
        models = {
            "knobs": by_knobs,
            "trees": lambda seen: (expected(both, estimates, times, seen, False) + by_knobs(seen)) / 2,
            "rank": lambda seen: expected(both, estimates, times, seen, True),
            "random": None,
        }
        means = {name: np.mean([trials(model, times, seed) for seed in range(SEEDS)]) for name, model in models.items()}
        print(f"{kernel:32} {len(times):6}" + "".join(f" {means[name]:7.1f}" for name in names), flush=True)


if __name__ == "__main__":
    main()
