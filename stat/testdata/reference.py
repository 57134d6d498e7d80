"""Writes reference.json, the figures that stat's tests compare with.

Run: pip install numpy scipy && python3 reference.py > reference.json
Made with numpy and scipy as named in the file's "made_with".
"""
import itertools
import json

import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(20260101)


def interval(d, confidence):
    """Signed-rank interval by brute force over all sign assignments' counts."""
    n = len(d)
    walsh = sorted((d[i] + d[j]) / 2 for i in range(n) for j in range(i, n))
    counts = [1]
    for rank in range(1, n + 1):
        grown = counts + [0] * rank
        for t, c in enumerate(counts):
            grown[t + rank] += c
        counts = grown
    # k: how many values of T+ have a lower tail of at most (1-confidence)/2.
    k, total = 0, 0
    for c in counts:
        total += c
        if total / 2**n > (1 - confidence) / 2 * (1 + 1e-12):
            break
        k += 1
    estimate = float(np.median(walsh))
    if k < 1:
        return {"estimate": estimate, "ok": False, "low": 0, "high": 0}
    return {"estimate": estimate, "ok": True, "low": walsh[k - 1], "high": walsh[len(walsh) - k]}


samples = []
for n in (1, 2, 5, 6, 7, 10, 12, 20, 30, 50):
    for shift in (0.0, 0.4):
        d = [float(round(x, 6)) for x in rng.standard_t(3, n) + shift]
        samples.append({
            "d": d,
            "p": float(stats.wilcoxon(d, method="exact").pvalue),
            "intervals": {str(c): interval(d, c) for c in (0.90, 0.95, 0.99)},
        })

ties = []
for n in (5, 8, 11):
    d = [int(x) for x in rng.integers(-3, 6, n)]
    # Exact conditional p-value by enumeration of all signs of the mean ranks.
    kept = [x for x in d if x != 0]
    ranks = stats.rankdata(np.abs(kept))
    observed = float(sum(r for r, x in zip(ranks, kept) if x > 0))
    sums = [sum(r for r, s in zip(ranks, signs) if s) for signs in itertools.product((0, 1), repeat=len(kept))]
    low = np.mean([s <= observed + 1e-9 for s in sums])
    high = np.mean([s >= observed - 1e-9 for s in sums])
    ties.append({"d": d, "p": float(min(1, 2 * min(low, high)))})

large = [float(round(x, 6)) for x in rng.standard_normal(80) + 0.2]
quantiles = [float(round(x, 6)) for x in rng.standard_normal(11)]
series = [float(round(x, 6)) for x in np.cumsum(rng.standard_normal(40))]
centred = np.array(series) - np.mean(series)

json.dump({
    "made_with": {"numpy": np.__version__, "scipy": scipy.__version__},
    "samples": samples,
    "ties": ties,
    "large": {"d": large, "p": float(stats.wilcoxon(large, method="asymptotic", correction=True).pvalue)},
    "quantile": {"d": quantiles, "q": {str(q): float(np.quantile(quantiles, q)) for q in (0, 0.1, 0.5, 0.9, 0.99, 1)}},
    "lag1": {"d": series, "r": float(np.sum(centred[1:] * centred[:-1]) / np.sum(centred**2))},
}, __import__("sys").stdout, indent=1)
