// Package knee answers how much load a service sustains, and what limits it: the highest
// rate at which its objectives hold, as an interval, from steps of load.
//
// It is the decision alone, and pure: Judge says what one step showed, Search which
// rate to try next and where the knee lies by all that was tried, Decide the answer
// of all steps. session conducts the steps, render writes the answer.
//
// It refuses to answer where the steps do not carry it: a generator that was the
// limit, a rate that was never steady, a target that ended. Those are answers of
// their own (Undecided), with the reason.
//
// A single ramp was rejected: one unlucky window ends it, and a queue that a high
// rate left behind is taken for the next rate's. Plain bisection was rejected: one
// step that a neighbour spoilt leads it away for good.
package knee
