// Package knee finds how much load a service sustains, and what limits it: the highest
// rate at which its objectives hold, as an interval, from steps of load.
//
// It contains only the decision, and is pure: Step.Assess judges one step, Search
// chooses the next rate and locates the knee from all steps so far, Decide gives
// the answer. session conducts the steps, render writes the answer.
//
// It refuses to answer if the steps do not support an answer: the generator was the
// limit, no rate was steady, or the target ended. Then the answer is Undecided,
// with the reason.
//
// A single ramp was rejected: one unlucky window ends it, and a queue left by one
// rate is taken for the next rate's. Plain bisection was rejected: a single step
// spoilt by another program leads it astray for good.
package knee
