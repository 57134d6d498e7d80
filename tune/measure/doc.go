// Package measure runs a tune: it launches the trials that a tune.Search proposes, as pairs of
// verify/session, and has a new session confirm the search's choice.
//
// A Tuner takes the present side of the service, a space and an objective, and gives a
// tune.Result. Every trial launches its own processes and ends them, so that nothing
// needs to be restored: a service that ran before keeps its settings, whether the search
// ends, fails or is interrupted. Only live knobs of a running target must be restored.
// Settings of the host are not knobs.
//
// Trials are kept line by line in a log, under the same kind of lock as a session's. A search
// proposes the same trials from the same outcomes, so that an interrupted one replays its log and
// continues.
//
// The time is divided beforehand: the least that the confirmation needs is reserved, and no
// trial begins in it. Errors are the context's end, a present setting that cannot be
// measured, and failures to keep the log; a candidate that cannot be measured is a failed
// trial.
package measure
