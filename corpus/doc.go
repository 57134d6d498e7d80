// Package corpus holds small services, each sick in one way that matters under
// its scenario (sick/), in two ways of known weight (pair/), or healthy though it
// looks suspicious (healthy/). A service is a folder:
//
//	main.go        the service, with its own framework, names and shape
//	scenario.yaml  the load that `redline run` puts on it; it can be run by hand
//	expect.yaml    what redline must find there: cause, where, range of share
//
// backend/ is the service that others of them call. diagnose/diagnosetest/corpus
// defines and checks what the folders must contain.
package corpus
