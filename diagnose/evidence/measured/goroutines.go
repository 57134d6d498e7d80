package measured

import (
	"fmt"
	"strings"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/stacks"
)

// maxSnapshots bounds how many goroutine profiles are in memory at once.
const maxSnapshots = 512

// Snapshot is one goroutine profile: which goroutines were where at an instant.
type Snapshot struct {
	At     time.Duration // run time
	Total  int64         // goroutines
	Stacks []Sample      // Value is the number of goroutines
}

// Snapshots returns the goroutine profiles in order of time; nil if there are none. The
// error names the one that does not parse.
func (p *Run) Snapshots() ([]Snapshot, error) {
	return p.snapshots.Try(p.readSnapshots)
}

// readSnapshots reads as many profiles as fit in memory, evenly over the run, and
// notes how many it left out.
func (p *Run) readSnapshots() ([]Snapshot, error) {
	var list []Snapshot
	all := p.Record.Profiles("goroutine")
	picked := record.Spread(len(all), func(i int) int64 { return p.Record.ProfileSize(all[i]) }, stacks.MaxBytes, maxSnapshots)
	if left := len(all) - len(picked); left > 0 {
		p.Note("%d of %d goroutine profiles left out, evenly over the run", left, len(all))
	}
	for _, n := range picked {
		listed := all[n]
		data, err := p.Record.ReadProfile(listed)
		if err != nil {
			return nil, fmt.Errorf("goroutine profile: %w", err)
		}
		parsed, err := ParseProfile(data)
		if err != nil {
			return nil, fmt.Errorf("goroutine profile: %w", err)
		}
		flat, err := stacks.Flatten(parsed, "goroutine")
		if err != nil {
			return nil, fmt.Errorf("goroutine profile: %w", err)
		}
		apart(flat)
		at := len(list)
		for at > 0 && list[at-1].At > listed.Span.From {
			at--
		}
		list = append(list, Snapshot{})
		copy(list[at+1:], list[at:])
		list[at] = Snapshot{At: listed.Span.From, Total: flat.Total, Stacks: flat.Samples}
	}
	return list, nil
}

// Alive returns the number of goroutines that began in a function, per snapshot;
// nil without snapshots.
func (p *Run) Alive(entry string) []int64 {
	snapshots, err := p.Snapshots()
	if err != nil {
		return nil
	}
	counts := make([]int64, len(snapshots))
	for i, s := range snapshots {
		for _, stack := range s.Stacks {
			if raw(stack.Stack) == entry || p.Began(stack.Stack) == entry {
				counts[i] += stack.Value
			}
		}
	}
	return counts
}

// ClientConn reports whether a goroutine's entry is that of a connection of net/http's client, or of a copy of it, of which each
// has two.
func ClientConn(entry string) bool { return strings.Contains(entry, ".(*persistConn).") }

const (
	// leastPiled and leastPiledShare are the number of goroutines of client connections that are added from which they pile up, and
	// their part of all at the end: a pool that fills adds some tens.
	leastPiled, leastPiledShare = 100, 0.25
)

// PilesUp reports whether the connections of net/http's client pile up: each call leaves its own behind, because its transport is
// neither shared nor closed.
func (p *Run) PilesUp() bool {
	snapshots, err := p.Snapshots()
	if err != nil || len(snapshots) < 2 {
		return false
	}
	count := func(s Snapshot) (n int64) {
		for _, one := range s.Stacks {
			if ClientConn(Entry(one.Stack)) {
				n += one.Value
			}
		}
		return n
	}
	first, last := snapshots[0], snapshots[len(snapshots)-1]
	n := count(last)
	return n-count(first) >= leastPiled && float64(n) >= leastPiledShare*float64(last.Total)
}
