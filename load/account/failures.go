package account

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/record"
)

// mostFailures bounds the messages in a summary; the rest is one line.
const mostFailures = 50

// failed is the key by which failures are counted.
type failed struct {
	message uint8
	step    int32
}

// fail counts a failure of the measured span by its message and its request.
// The number of keys is bounded, because messages and steps are.
func (t *Totals) fail(s *Sample) {
	key := failed{s.Message, min(s.Request, int32(len(t.steps)-1))}
	f := t.failed[key]
	if f == nil {
		if t.failed == nil {
			t.failed = map[failed]*record.FailureSummary{}
		}
		f = &record.FailureSummary{First: s.Done, Last: s.Done}
		t.failed[key] = f
	}
	f.Count++
	f.First, f.Last = min(f.First, s.Done), max(f.Last, s.Done)
}

// FailureSummaries returns what the failures of the measured span say, most frequent first.
func (t *Totals) FailureSummaries(messages *failure.Messages) []record.FailureSummary {
	var all []record.FailureSummary
	for key, f := range t.failed {
		one, message := *f, messages.Of(key.message)
		one.Kind, one.Text = string(message.Kind), message.Text
		if len(t.steps) > 1 {
			one.Request = t.steps[key.step].name
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b record.FailureSummary) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text),
			cmp.Compare(a.Request, b.Request))
	})
	if len(all) <= mostFailures {
		return all
	}
	rest := record.FailureSummary{First: all[mostFailures-1].First}
	for _, f := range all[mostFailures-1:] {
		rest.Count += f.Count
		rest.First, rest.Last = min(rest.First, f.First), max(rest.Last, f.Last)
	}
	return append(all[:mostFailures-1], rest)
}
