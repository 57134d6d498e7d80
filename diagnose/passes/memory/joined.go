package memory

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/findings"
)

const (
	// leastLong is the mean length of a text from which joining it with + is about memory: what is added is short then, and
	// each + copies the rest. Shorter texts are keys and messages, whose joining is cpu-format.
	leastLong = 1 << 10
	// leastJoined is the part of a place's allocating that must be in joining strings.
	leastJoined = 0.5
)

// joins adds to a site's work, its allocating, the CPU with which it copies text from string to string, each longer than the last.
// ok is false where it does not mostly do that, or where it does not allocate by itself (direct).
//
// A heap profile books the bytes of a joined string on the user's line, and hides the runtime's function; the CPU profile has it.
func joins(p *diagnose.Pass, use *usage.Table, lead site, direct bool, work evidence.Work) (all evidence.Work, ok bool) {
	if !direct || lead.below != "" || lead.objects == 0 || lead.bytes/lead.objects < leastLong {
		return work, false
	}
	part := func(joining, allocating bool) float64 {
		return use.Part(func(s usage.Booked) bool {
			i := p.Stacks.Innermost(s.Stack)
			return i > 0 && p.Stacks.Unit(s.Stack, i) == lead.unit &&
				strings.HasPrefix(s.Stack[i-1].Function, "runtime.concatstring") == joining &&
				p.Stacks.Roles(s.Stack[:i]).Has(callstack.Allocate|callstack.GCAssist) == allocating
		})
	}
	joining, other := part(true, true), part(false, true)
	if joining == 0 || joining < leastJoined*(joining+other) {
		return work, false
	}
	return evidence.Work{Share: min(1, work.Share+part(true, false)), Function: lead.place.Function}, true
}

// joined words a finding about a site that joins strings, with its share of the CPU. What cpu-format says of the same place
// follows from it.
func joined(p *diagnose.Pass, f *findings.Finding, lead site, share float64) {
	f.Share = share
	f.Title += ", joining strings with +"
	f.Where.Detail = "joining strings with +"
	f.Remedy = fmt.Sprintf("At %s, write the parts to one strings.Builder, or append them to a reused buffer: each + copies everything "+
		"joined before it.", diagnose.At(lead.place))
	p.Reached("alloc-hot", nil)
	p.Cover(*f, lead.place.Function)
}
