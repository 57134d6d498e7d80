//go:build linux

// Command diagnose runs the corpus for real and reports how often redline is right:
// it builds each service, starts what the service needs, runs `redline run` on
// its scenario as a user would, and scores the findings.
//
//	make bench-diagnose                                  # everything; writes docs/diagnosis.md
//	bench-diagnose -only 'ledger' -keep /tmp/runs        # some cases, and keep their bundles
//	bench-diagnose -score /tmp/runs                      # assess kept bundles again, without measuring
//	bench-diagnose -calibrate -runs 3                    # claimed gains against those of the remedied twins (FIXED=1)
//
// It runs from the corpus's folder. Interrupted, it reports what it has so far.
package main
