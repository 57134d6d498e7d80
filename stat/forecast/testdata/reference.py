"""Forecasts public series with statsmodels at rolling origins, and writes statsmodels.json.

    python -m venv v && v/bin/pip install statsmodels==0.15.0
    v/bin/python reference.py [NAME...]     # in this folder; all take 15 minutes

Each series lies in series/NAME.csv, one value per line. At each origin all models are
fitted to what lies before it; the error is MASE with the seasonal difference of the
training values as its scale. The kinds ETS, SARIMAX and SARIMAX of logarithms choose their
form by AICc at each origin.
"""
import json, sys, time, warnings
import numpy as np, statsmodels, pandas as pd
from statsmodels.tsa.exponential_smoothing.ets import ETSModel
from statsmodels.tsa.statespace.sarimax import SARIMAX
from statsmodels.tsa.forecasting.theta import ThetaModel
from statsmodels.tsa.forecasting.stl import STLForecast
from statsmodels.tsa.arima.model import ARIMA
from statsmodels.tsa.seasonal import MSTL
warnings.simplefilter("ignore")

SERIES = {  # seasons, horizon, origins
    "airline": ([12], 12, 20), "co2": ([12], 24, 20), "elnino": ([12], 12, 20), "wineind": ([12], 12, 20),
    "realgdp": ([4], 8, 20), "sunspots": ([], 10, 20), "nile": ([], 8, 20),
    "taylor": ([48, 336], 48, 20), "traffic": ([24, 168], 168, 4),
}

def ends(n, h, k):
    first = int(n * 0.6)
    return [first + (n - h - first) * i // (k - 1) for i in range(k)]

def ets(y, m, h):
    pos, best = (y > 0).all(), None
    long = m > 24
    for error in ["add"] + (["mul"] if pos else []):
        for trend, damped in [(None, False), ("add", False), ("add", True)]:
            for season in ([None] if m == 1 else ["add"] + (["mul"] if pos and error == "mul" else [])):
                if long and (error == "mul" or trend): continue
                try:
                    f = ETSModel(pd.Series(y), error=error, trend=trend, damped_trend=damped, seasonal=season,
                                 seasonal_periods=m if season else None,
                                 initialization_method="heuristic" if long else "estimated").fit(disp=False, maxiter=300)
                    if np.isfinite(f.aicc) and (best is None or f.aicc < best.aicc): best = f
                except Exception: pass
    return np.asarray(best.forecast(h))

def sarimax(y, m, h):
    best = None
    if m > 24: orders = []
    elif m > 1: orders = [(o, s) for o in ([(0,1,1), (1,1,1), (1,0,1), (2,0,0), (2,1,2)] if m < 24 else [(1,0,1)]) for s in [(0,1,1,m)]]
    else: orders = [((p,d,q), (0,0,0,0)) for p in range(4) for q in range(3) for d in (0,1) if p + q < 5]
    for o, s in orders:
        try:
            f = SARIMAX(y, order=o, seasonal_order=s, trend="c" if o[1]+s[1] <= 1 else None).fit(disp=False, maxiter=50)
            if np.isfinite(f.aicc) and (best is None or f.aicc < best.aicc): best = f
        except Exception: pass
    return np.asarray(best.forecast(h))

def mstl(y, seasons, h):
    if not seasons: raise ValueError
    if len(seasons) == 1:
        return np.asarray(STLForecast(pd.Series(y), ARIMA, model_kwargs=dict(order=(1,1,1)), period=seasons[0]).fit().forecast(h))
    d = MSTL(y, periods=seasons).fit()
    f = ETSModel(pd.Series(d.trend + d.resid), error="add", trend="add", damped_trend=True).fit(disp=False)
    out = np.asarray(f.forecast(h))
    for i, m in enumerate(seasons): out = out + np.resize(d.seasonal[-m:, i], h)
    return out

def models(y, seasons, h):
    m = seasons[-1] if seasons else 1
    first = seasons[0] if seasons else 1
    yield "seasonal naive", lambda: np.resize(y[-m:], h)
    yield "ETS", lambda: ets(y, m, h)
    if first <= 24:
        yield "SARIMAX", lambda: sarimax(y, first, h)
        if (y > 0).all(): yield "SARIMAX of logarithms", lambda: np.exp(sarimax(np.log(y), first, h))
    yield "Theta", lambda: np.asarray(ThetaModel(pd.Series(y), period=m, deseasonalize=m > 1).fit().forecast(h))
    if seasons:
        yield "STL", lambda: mstl(y, seasons, h)
        if (y > 0).all(): yield "STL of logarithms", lambda: np.exp(mstl(np.log(y), seasons, h))

try: out = json.load(open("statsmodels.json"))
except OSError: out = {"statsmodels": statsmodels.__version__, "series": {}}
for name in sys.argv[1:] or SERIES:
    seasons, h, k = SERIES[name]
    y = np.loadtxt(f"series/{name}.csv"); m = seasons[-1] if seasons else 1
    errors = {}; begun = time.time()
    for end in ends(len(y), h, k):
        train, actual = y[:end], y[end:end+h]
        scale = np.mean(np.abs(train[m:] - train[:-m]))
        for kind, f in models(train, seasons, h):
            try: errors.setdefault(kind, []).append(float(np.mean(np.abs(f() - actual)) / scale))
            except Exception as e: print(name, kind, end, e, file=sys.stderr)
    means = {kind: round(float(np.mean(e)), 5) for kind, e in errors.items() if len(e) == k}
    out["series"][name] = {"seasons": seasons, "horizon": h, "origins": ends(len(y), h, k), "mase": means}
    print(name, len(y), means, round(time.time() - begun), "s", flush=True)
    json.dump(out, open("statsmodels.json", "w"), indent=1)
