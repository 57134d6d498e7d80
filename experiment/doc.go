// Package experiment settles claims about tuning on the machine that it runs on: each
// experiment measures one claim as an interleaved comparison of a baseline with the tuned
// form, and says whether the claimed effect is there, is smaller, is none or is reversed.
//
// An experiment is a plain value. Suite lists them, Claims the claims that they settle;
// Session runs them through verify's paired design and keeps each result as it is
// decided, so that an interrupted session continues where it was.
package experiment
