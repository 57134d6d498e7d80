package usage

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
)

// Part is a part of the service's CPU that one change could take away.
type Part struct {
	What  string // "JSON", "compiling regular expressions", "model.NewAndValidate"
	Cause string // the cause of a finding about it, if it were large enough
	Place code.Frame
	// Share is the part of the service's CPU, 0 to 1, including the collection of what it
	// allocates.
	Share float64
}

// uses are kinds of work that can be done less often, more cheaply or once. Work of connections (a
// driver, TLS) is not among them: it shows in waits, and has analyzers of its own.
var uses = []struct {
	role        callstack.Role
	what, cause string
}{
	{callstack.JSON, "JSON", "cpu-json"}, {callstack.Logging, "logging", "cpu-logging"},
	{callstack.Instrument, "metrics and tracing", "instrumentation-cost"},
	{callstack.RegexpCompile, "compiling regular expressions", "cpu-regexp-compile"},
	{callstack.RegexpMatch, "matching regular expressions", "cpu-regexp-match"},
	{callstack.TemplateParse, "parsing templates", "cpu-template-parse"},
	{callstack.Format, "formatting", "cpu-format"}, {callstack.Crypto, "hashing and encrypting", "cpu-crypto"},
	{callstack.Compress, "compression", "cpu-compress"}, {callstack.Sort, "sorting", "cpu-sort"},
	{callstack.Reflect, "reflection", "cpu-reflect"}, {callstack.Router, "routing", "cpu-router"},
}

// Parts returns the parts of the service's CPU that one change could take away, largest first:
// what each library domain takes, what is made for requests, and the service's hottest function. They
// overlap, and no threshold applies: which is worth a finding is for analyzers to judge.
func (p *Service) Parts() []Part {
	use, err := p.Use()
	if err != nil || use.total == 0 {
		return nil
	}
	var list []Part
	for _, d := range uses {
		if places := use.Places(d.role); len(places) > 0 {
			list = append(list, Part{d.what, d.cause, places[0].Place, min(1, use.Share(d.role)+p.Garbage(d.role))})
		}
	}
	for _, made := range []func() (Built, bool){p.Built, p.Made} {
		if b, ok := made(); ok {
			list = append(list, Part{callstack.Short(b.Function), "cpu-hot-function", b.Place, min(1, b.Share)})
		}
	}
	if own := use.Own(); len(own) > 0 {
		list = append(list, Part{callstack.Short(own[0].Place.Function), "cpu-hot-function", own[0].Place, own[0].Share})
	}
	slices.SortStableFunc(list, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	return list
}
