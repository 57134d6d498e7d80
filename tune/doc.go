// Package tune searches the settings of a service (GOGC, the size of a pool, a flag)
// for one that serves an objective better than the present setting, and says "keep what
// you have" unless a new comparison proves that it found one.
//
// A trial is one pair of launches of verify/session: the present setting and a candidate,
// interleaved. Its outcome is the natural logarithm of the ratio of both values of the
// objective, + is better. So the present setting has the value 0 by definition, and noise
// of the machine that affects both sides cancels. A Search proposes trials:
//
//   - each knob alone at its ends, which shows knobs that do nothing and values that the
//     service does not survive;
//   - proposals by expected improvement under a Gaussian process over the settings;
//   - successive halving: the best half of the candidates by the process's mean is
//     measured twice as often, until one is left (Karnin et al., Almost Optimal
//     Exploration in Multi-Armed Bandits, ICML 2013);
//   - changes of the last one that gain nothing are undone, and each remaining change
//     is measured alone.
//
// The value of the winner is never taken from the search: the best of many noisy values is
// better than its setting. At 5 % of noise, up to 63 % of the configurations chosen that
// way degraded by 30 % or more once deployed (Freischuetz et al., TUNA: Tuning Unstable
// and Noisy Cloud Applications, EuroSys 2025). The winner's mean under the process is
// shrunk towards the present's 0, and a session of verify that measures only new launches
// decides whether it is recommended.
//
// The package contains only the search: it starts nothing, opens no file and reads no
// clock. The same seed and outcomes give the same proposals, so that an interrupted search
// continues from its log. measure/ launches the trials, render/ writes the result.
//
// The process is a Gaussian process instead of a tree-structured Parzen estimator, because
// trials are expensive and noisy: it averages neighbouring settings, gives the effect of a
// single knob with an interval, and needs tens of trials where that estimator needs
// hundreds. gonum has no such process; its Cholesky factors are used.
package tune
