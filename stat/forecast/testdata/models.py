"""Writes models.json: parameters and forecasts of statsmodels 0.15.0 (see reference.py)."""
import numpy as np, json, pandas as pd, warnings; warnings.simplefilter("ignore")
from statsmodels.tsa.exponential_smoothing.ets import ETSModel
from statsmodels.tsa.statespace.sarimax import SARIMAX
from statsmodels.tsa.forecasting.theta import ThetaModel
from statsmodels.tsa.seasonal import STL
D='series/'
air=np.loadtxt(D+'airline.csv'); nile=np.loadtxt(D+'nile.csv'); out={}
m=ETSModel(pd.Series(air),error='mul',trend='add',damped_trend=True,seasonal='mul',seasonal_periods=12)
f=m.fit(disp=False,maxiter=1000); p=dict(zip(m.param_names,map(float,f.params)))
out['ets']={'params':p,'forecast':list(map(float,f.forecast(24))),'sse_relative':float(np.sum(np.asarray(f.resid)**2)),'llf':float(f.llf)}
m=SARIMAX(np.log(air),order=(0,1,1),seasonal_order=(0,1,1,12)); f=m.fit(disp=False)
out['airline']={'ma':float(f.params[0]),'sma':float(f.params[1]),'sigma2':float(f.params[2]),'forecast':list(map(float,f.forecast(24)))}
f=ThetaModel(pd.Series(nile),period=1,deseasonalize=False).fit()
out['theta']={'alpha':float(f.params['alpha']),'b0':float(f.params['b0']),'forecast':list(map(float,f.forecast(8)))}
out['stl']={'last':list(map(float,STL(pd.Series(np.log(air)),period=12,seasonal=7).fit(inner_iter=5,outer_iter=0).seasonal[-12:]))}
json.dump(out,open('models.json','w'),indent=1)
