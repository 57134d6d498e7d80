// Package measure runs a tune: it launches the trials that a tune.Search proposes, as pairs of
// verify/session, and has a fresh session confirm what the search ended with.
//
// A Tuner takes the present side of the service, a space and an objective, and gives a
// tune.Result. Every trial is a launch of its own that is ended with it, so that nothing
// needs to be put back: the service that was there before keeps what it had, whether the
// search ends, fails or is interrupted. Settings of the host are no knobs.
//
// Trials lie in a Log, under the same lock as a session's, line by line. A search proposes the same
// trials from the same outcomes, so that an interrupted one replays its log and goes on.
//
// The time is divided beforehand: what the confirmation needs at least is set aside, and no
// trial is begun with it. Errors are the context's end, a present setting that cannot be
// measured, and failures to keep the log; a candidate that cannot be measured is a failed
// trial.
package measure
