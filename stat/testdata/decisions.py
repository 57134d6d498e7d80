"""Writes decisions.json: reference figures for tests of two samples, looks,
detectable effects and change points.

Run: pip install numpy scipy && python3 decisions.py > decisions.json
"""
import json
import sys

import numpy as np
import scipy
import scipy.optimize
from scipy import stats

rng = np.random.default_rng(20260202)
rounded = lambda a: [float(round(x, 6)) for x in a]

two = []
for n, m, shift in ((3, 3, 0), (5, 8, 1.0), (12, 9, 0.7), (20, 20, 0.0), (30, 25, 0.8)):
    a, b = rounded(rng.standard_t(4, n)), rounded(rng.standard_t(4, m) + shift)
    two.append({
        "a": a, "b": b,
        "mannwhitney": float(stats.mannwhitneyu(a, b, method="exact").pvalue),
        "shift": float(np.median([y - x for x in a for y in b])),
        "student": float(stats.ttest_ind(a, b).pvalue),
    })

# The boundary of O'Brien and Fleming by a different route than the code's: the
# multivariate normal distribution of the standardised sums, by scipy.
looks = []
for k, alpha in ((2, 0.05), (3, 0.05), (5, 0.05), (3, 0.01)):
    i = np.arange(1, k + 1)
    cov = np.sqrt(np.minimum.outer(i, i) / np.maximum.outer(i, i))
    def inside(c):
        z = c * np.sqrt(k / i)
        return stats.multivariate_normal(np.zeros(k), cov, maxpts=400_000, abseps=1e-6).cdf(z, lower_limit=-z)
    c = scipy.optimize.brentq(lambda c: 1 - inside(c) - alpha, 1.5, 4, xtol=1e-5)
    looks.append({"looks": k, "alpha": alpha, "levels": [float(2 * stats.norm.sf(c * np.sqrt(k / j))) for j in i]})

effects = []
for sd, n, alpha, power in ((0.02, 10, 0.05, 0.8), (0.05, 24, 0.05, 0.9), (0.1, 6, 0.1, 0.8)):
    t = stats.t(n - 1)
    effects.append({"sd": sd, "n": n, "alpha": alpha, "power": power,
                    "effect": float((t.ppf(1 - alpha / 2) + t.ppf(power)) * sd / np.sqrt(n * 3 / np.pi))})

def cut(x):
    """Energy distance of every division by its definition."""
    x = np.array(x)
    best, at = 0.0, 0
    for k in range(2, len(x) - 1):
        a, b = x[:k], x[k:]
        m, n = len(a), len(b)
        within = lambda v: np.abs(v[:, None] - v).sum() / (len(v) * (len(v) - 1))
        energy = 2 * np.abs(a[:, None] - b).mean() - within(a) - within(b)
        q = m * n / (m + n) * energy
        if q > best:
            best, at = q, k
    return at

cuts = []
for parts in (((20, 0), (20, 3)), ((7, 0), (30, 1)), ((25, 5), (25, 4.2)), ((4, 0), (4, 9))):
    x = rounded(np.concatenate([rng.standard_normal(n) + level for n, level in parts]))
    cuts.append({"d": x, "cut": cut(x)})

sample = rounded(rng.standard_t(3, 31))
json.dump({
    "made_with": {"numpy": np.__version__, "scipy": scipy.__version__},
    "two": two, "looks": looks, "effects": effects, "cuts": cuts,
    "spread": {"d": sample, "mad": float(stats.median_abs_deviation(sample, scale="normal")), "sd": float(np.std(sample, ddof=1))},
    "holm": {"p": [0.01, 0.04, 0.03, 0.005, 0.5], "adjusted": [float(x) for x in (0.04, 0.09, 0.09, 0.025, 0.5)]},
}, sys.stdout, indent=1)
