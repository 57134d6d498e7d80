package waits

import (
	"github.com/redline-go/redline/anatomy/site"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// standIn completes a wait that the trace could not follow, because a deadline ended it or
// its end is not in the trace: the goroutine profiles show what the goroutine that works
// for it does. Other waits are returned unchanged.
func (p *Requests) standIn(part breakdown.Part, kind callstack.Wait) breakdown.Part {
	if len(part.Behind) > 0 {
		return part
	}
	switch {
	case kind == callstack.SleepWait && callstack.Deadline(part.Waker):
	case kind == callstack.ChannelWait && len(part.Waker) == 0, kind == callstack.JoinWait && len(part.Waker) == 0:
	default:
		return part
	}
	if entry := p.workingFor(part); entry != "" {
		part.Behind = p.standing(entry, part)
	}
	return part
}

// standing returns what the goroutines that began in entry do during a part's waits, by
// the goroutine profiles: each profile samples all goroutines at one instant, so a
// stack's part of the goroutines is its part of the time. Nil without profiles or
// without such goroutines.
//
// Goroutines whose request has given up count too, because they still do what it
// waited for.
func (p *Requests) standing(entry string, part breakdown.Part) []breakdown.Chain {
	shots, err := p.Snapshots()
	if err != nil {
		return nil
	}
	var seen []measured.Sample
	var all int64
	for _, shot := range shots {
		for _, sample := range shot.Stacks {
			if measured.Entry(sample.Stack) == entry {
				seen, all = append(seen, sample), all+sample.Value
			}
		}
	}
	chains := make([]breakdown.Chain, len(seen))
	for i, sample := range seen {
		share := float64(sample.Value) / float64(all)
		chains[i] = breakdown.Chain{
			NS: int64(share * float64(part.NS)), Share: share * part.Share,
			Links: []breakdown.Link{{Goroutine: entry, State: stood(sample.Stack), Stack: sample.Stack}},
		}
	}
	return chains
}

// stood returns the state of a goroutine in a goroutine profile. One that does not wait
// runs or is in a system call, as its innermost frame shows.
func stood(stack []code.Frame) breakdown.State {
	state := site.Stood(stack)
	if state != breakdown.StateOther || len(stack) == 0 {
		return state
	}
	switch pkg, _ := callstack.Split(stack[0].Function); pkg {
	case "syscall", "internal/runtime/syscall", "runtime/internal/syscall", "golang.org/x/sys/unix":
		return breakdown.StateSyscall
	}
	return breakdown.StateRunning
}
