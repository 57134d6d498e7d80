// Package stat holds the statistics by which redline decides: location of paired
// differences with an exact interval, two samples, looks at growing data, several
// tests at once, detectable effects, the bootstrap, change points and serial
// correlation. Every function is pure; those that draw random numbers take the
// source, so that a verdict can be replayed.
//
// It refuses to decide: margins, multiple comparisons and what an interval means
// belong to the caller. Estimates and intervals do not assume normality, because
// run times are skewed and have outliers: a t interval becomes useless after one
// stalled run. Student's t is only for differences beyond doubt (StudentInterval)
// and between the levels of a history (ChangePoints).
//
// Methods are taken from
//
//   - M. Hollander, D. A. Wolfe, E. Chicken, Nonparametric Statistical Methods,
//     3rd ed., Wiley 2014 (HWC below): signed rank, Hodges-Lehmann, Walsh averages;
//   - B. Efron, R. Tibshirani, An Introduction to the Bootstrap, Chapman & Hall 1993;
//   - A. N. Pettitt, A non-parametric approach to the change-point problem,
//     Applied Statistics 28 (1979), 126-135;
//   - P. C. O'Brien, T. R. Fleming, A multiple testing procedure for clinical
//     trials, Biometrics 35 (1979), 549-556; C. Jennison, B. W. Turnbull, Group
//     Sequential Methods, Chapman & Hall 2000;
//   - S. Holm, A simple sequentially rejective multiple test procedure,
//     Scandinavian Journal of Statistics 6 (1979), 65-70;
//   - D. S. Matteson, N. A. James, A nonparametric approach for multiple change
//     point analysis of multivariate data, JASA 109 (2014), 334-345; M. Fleming et
//     al., Hunter: using change point detection to hunt for performance
//     regressions, ICPE 2023;
//   - R. J. Hyndman, Y. Fan, Sample quantiles in statistical packages,
//     The American Statistician 50 (1996), 361-365.
package stat
