package accounting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/record/histogram"
)

// faulty is the share of unfinished requests above which a run must not be
// called valid.
const faulty = 0.01

// check says what does not add up; "" if everything does.
func (o *outcome) check(t trial) string {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	s := &o.result.Load
	var kinds, statuses int64
	for _, n := range s.ErrorKinds {
		kinds += n
	}
	for _, n := range s.Status {
		statuses += n
	}
	if kinds != s.Errors || s.Errors > s.Requests || statuses > s.Requests {
		say("%d errors, of kinds %v and statuses %v, of %d requests", s.Errors, s.ErrorKinds, s.Status, s.Requests)
	}
	if o.due > 0 && s.Requests+s.InFlight != o.due {
		say("%d ended and %d did not, of %d that were due", s.Requests, s.InFlight, o.due)
	}
	timed := o.ended - o.failed + o.kinds[string(failure.Timeout)]
	if o.logged[histogram.Latency] != timed || o.logged[histogram.ErrorLatency] != o.failed ||
		o.logged[histogram.Unfinished] != s.InFlight {
		say("the latency log has %v, of %d that ended, %d of them failed, and %d unfinished", o.logged, o.ended, o.failed, s.InFlight)
	}
	o.checkServer(t, say)
	o.checkOpen(say)
	o.checkFault(t, say)
	return strings.Join(wrong, "; ")
}

// checkServer compares the figures with the server's ledger. A request for which the
// client has an answer arrived and was answered; one without, or sent again, may have
// been.
func (o *outcome) checkServer(t trial, say func(string, ...any)) {
	s := &o.result.Load
	answered := o.ended - o.failed + o.kinds[string(failure.Status)]
	lost := o.ended - answered + s.InFlight + s.Resent
	if t.closed() && o.failed > 0 {
		lost += mostLanes // which a closed loop began after the measured span, and did not end
	}
	if o.answers < answered || o.answers > answered+lost {
		say("%d answers came, and up to %d may have got lost, but the server wrote %d", answered, lost, o.answers)
	}
	if o.requests < answered || o.requests > answered+lost {
		say("%d requests were answered, and up to %d more may have arrived, but the server counted %d", answered, lost, o.requests)
	}
}

// checkOpen checks how requests that never ended are accounted for.
func (o *outcome) checkOpen(say func(string, ...any)) {
	s := &o.result.Load
	if s.Latency.Unfinished != s.InFlight {
		say("%d unfinished requests, and the percentiles hold %d", s.InFlight, s.Latency.Unfinished)
	}
	if share := float64(s.InFlight) / float64(max(1, s.Requests+s.InFlight)); share > faulty && o.result.Generator.Unanswered == "" {
		say("%d of %d requests never ended, and the run is called valid", s.InFlight, s.Requests+s.InFlight)
	}
}

// checkFault compares the kinds of failure with those that the fault can cause, and
// looks for requests that were sent again if that is required or forbidden. A busy
// machine may always miss the timeout.
func (o *outcome) checkFault(t trial, say func(string, ...any)) {
	s := &o.result.Load
	for kind, n := range s.ErrorKinds {
		if kind != string(failure.Timeout) && !slices.Contains(causes(t), failure.Kind(kind)) {
			say("%d failures of kind %s", n, kind)
		}
	}
	switch {
	case s.Resent > 0 && !repeatable(t.protocol) && t.fault != goAway:
		say("%d requests were sent again, which may do something twice", s.Resent)
	case s.Resent > s.Requests+s.InFlight && t.fault != goAway:
		say("%d requests were sent again of %d, once each at most", s.Resent, s.Requests+s.InFlight)
	case s.Resent == 0 && repeatable(t.protocol) && t.fault == closeIdle && t.model == counted && s.Errors == 0:
		say("nothing was sent again")
	}
}

// causes are the kinds of failure that a fault can cause.
func causes(t trial) []failure.Kind {
	switch t.fault {
	case burst:
		return []failure.Kind{failure.Status}
	case resetBefore, resetWithin:
		return []failure.Kind{failure.Reset, failure.EOF, failure.ShortBody}
	case truncated, closeNotify:
		return []failure.Kind{failure.EOF, failure.ShortBody}
	case garbage:
		return []failure.Kind{failure.BadResponse, failure.EOF, failure.ShortBody}
	case closeAfter, closeIdle:
		if repeatable(t.protocol) {
			return nil
		}
		return []failure.Kind{failure.EOF, failure.Reset}
	case halfClose:
		if repeatable(t.protocol) && !multiplexed(t.protocol) {
			return nil
		}
		return []failure.Kind{failure.EOF, failure.Reset}
	case goAway, goAwayError, resetStream:
		return []failure.Kind{failure.StreamReset, failure.EOF, failure.Reset}
	case handshakeRefused:
		return []failure.Kind{failure.TLS}
	case listenerStopped, processKilled:
		return []failure.Kind{failure.Refused, failure.Reset, failure.EOF, failure.ShortBody, failure.TLS} // the last within a handshake
	}
	return nil
}
