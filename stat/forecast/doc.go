// Package forecast continues a regular series of figures, such as requests per second by
// the hour, and says how sure that is.
//
// Candidates are fitted to the series: exponential smoothing in state-space form (Hyndman,
// Koehler, Ord and Snyder, "Forecasting with Exponential Smoothing", 2008) with damped
// trend and one or two seasons (Taylor, "Short-term electricity demand forecasting using
// double seasonal exponential smoothing", 2003), seasonal ARIMA by exact likelihood (with
// long seasons by conditional sum of squares), Theta, and smoothing of what STL leaves. Choose backtests each over
// rolling origins and forecasts with the weighted mean of those whose MASE is near the
// least. The seasonal naive forecast is the yardstick, and takes part in the mean only if
// nothing beats it.
//
// A forecast is a set of simulated paths. Its intervals are their quantiles, widened or
// narrowed by how far the errors of the backtest reached; the step at which a limit
// is reached is the first passage of each path.
//
// Missing values are NaN and never zero. Values are on a regular grid; steps, dates and
// units are the caller's.
//
// Tried and rejected: choosing by AICc across families (the likelihoods of differenced
// and undifferenced series cannot be compared); intervals from the normal distribution
// with only the fitted variance (they ignore that the model is chosen and fitted, and
// hold too seldom); multiplicative trend (explodes within a season).
package forecast
