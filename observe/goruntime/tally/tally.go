// Package tally reads the counts of the probe's operations, as probe/operations writes
// them: per statement or route, and per call stack.
//
// The target is not trusted: how many operations, stacks and frames are kept is bounded,
// and a line that does not parse is an error. Lines that a later probe adds are skipped.
package tally

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/redline-go/redline/probe/operations"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/timebase"
)

// kinds names the probe's numbers.
var kinds = map[int]operation.Kind{
	operations.Query: operation.Query, operations.Exec: operation.Exec, operations.Prepare: operation.Prepare,
	operations.Acquire: operation.Acquire, operations.Transaction: operation.Transaction,
	operations.Batch: operation.Batch, operations.Copy: operation.Copy, operations.HTTP: operation.HTTP,
	operations.Dial: operation.Dial, operations.Connect: operation.Connect,
	operations.RPC: operation.RPC, operations.Redis: operation.Redis,
}

// Tally holds the probe's counts up to one instant.
type Tally struct {
	ops     map[int]tallied       // by the probe's number; 0 stands for those beyond its bound
	callers map[callerKey]counted // of the calls whose stack was taken
	stacks  map[int][]code.Frame  // innermost first
}

// tallied is an operation's counts since the target started.
type tallied struct {
	figures counted
	// duplicates are calls that began while one like them was under way.
	duplicates int64
	kind       int
	text       string
}

// callerKey is one operation called from one stack, both by the probe's numbers.
type callerKey struct{ op, stack int }

// counted are figures in the order in which the probe writes them.
//
// nanos run until rows are closed; longest is that since the target started and never a
// difference; opened counts connections; undated counts the calls whose context had no
// deadline; held is the ns for which acquired connections were held.
type counted struct{ calls, errors, nanos, longest, rows, opened, undated, held int64 }

// minus returns the difference to an earlier reading. longest stays as it is.
func (c counted) minus(b counted) counted {
	return counted{c.calls - b.calls, c.errors - b.errors, c.nanos - b.nanos, c.longest, c.rows - b.rows,
		c.opened - b.opened, c.undated - b.undated, c.held - b.held}
}

// Bounds on a target's input.
const (
	maxTallied = 1 << 16
	maxFrames  = 64
	maxLine    = 64 << 10
)

// Parse reads the output of operations.Write.
func Parse(r io.Reader) (*Tally, error) {
	t := &Tally{ops: map[int]tallied{}, callers: map[callerKey]counted{}, stacks: map[int][]code.Frame{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	stack := 0
	for lines.Scan() {
		what, rest, _ := strings.Cut(lines.Text(), " ")
		var err error
		switch what {
		case "op":
			err = t.operation(rest)
		case "duplicates":
			err = t.duplicates(rest)
		case "at":
			err = t.caller(rest)
		case "stack":
			if stack, err = strconv.Atoi(rest); err == nil && len(t.stacks) < maxTallied {
				t.stacks[stack] = nil
			}
		case "frame":
			err = t.frame(stack, rest)
		} // a line of a later probe is skipped
		if err != nil {
			return nil, fmt.Errorf("operations: line %.60q: %w", lines.Text(), err)
		}
	}
	return t, lines.Err()
}

// numbers reads n whole numbers from a line.
func numbers(line string, n int) (all []int64, rest string, err error) {
	for range n {
		word, after, _ := strings.Cut(line, " ")
		v, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, "", err
		}
		all, line = append(all, v), after
	}
	return all, line, nil
}

// figuresOf names the numbers of a line, in the order in which probe/operations writes
// them.
func figuresOf(n []int64) counted {
	return counted{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]}
}

// operation parses "id kind figures... text". The text is quoted, because a statement
// may hold line breaks.
func (t *Tally) operation(line string) error {
	n, rest, err := numbers(line, 10)
	if err != nil {
		return err
	}
	text, err := strconv.Unquote(rest)
	if err == nil && len(t.ops) < maxTallied {
		t.ops[int(n[0])] = tallied{kind: int(n[1]), figures: figuresOf(n[2:]), text: strings.ToValidUTF8(text, "?")}
	}
	return err
}

// duplicates parses "id calls" and adds them to an operation, which stands before them.
func (t *Tally) duplicates(line string) error {
	n, _, err := numbers(line, 2)
	if err != nil {
		return err
	}
	if op, ok := t.ops[int(n[0])]; ok {
		op.duplicates = n[1]
		t.ops[int(n[0])] = op
	}
	return nil
}

// caller parses "operation stack figures...".
func (t *Tally) caller(line string) error {
	n, _, err := numbers(line, 10)
	if err == nil && len(t.callers) < maxTallied {
		t.callers[callerKey{int(n[0]), int(n[1])}] = figuresOf(n[2:])
	}
	return err
}

// frame parses "line function file" and appends it to a stack, innermost first. Frames
// of a stack that was one too many are dropped with it.
func (t *Tally) frame(stack int, line string) error {
	n, rest, err := numbers(line, 1)
	if err != nil {
		return err
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return err
	}
	function, err := strconv.Unquote(quoted)
	if err != nil {
		return err
	}
	file, err := strconv.Unquote(strings.TrimSpace(rest[len(quoted):]))
	if frames, ok := t.stacks[stack]; ok && err == nil && len(frames) < maxFrames {
		t.stacks[stack] = append(frames, code.Frame{Function: function, File: file, Line: int(n[0])})
	}
	return err
}

// maxCallers is how many callers of an operation are kept.
const maxCallers = 16

// Since returns the counts between an earlier tally and this one.
func (t *Tally) Since(before *Tally, span timebase.Span) *operation.Operations {
	result := &operation.Operations{Span: span, Queries: true}
	callers := map[int][]operation.Caller{}
	for key, c := range t.callers {
		c = c.minus(before.callers[key])
		if frames := t.stacks[key.stack]; c.calls > 0 && len(frames) > 0 {
			callers[key.op] = append(callers[key.op], operation.Caller{
				MeanNS: c.nanos / c.calls, HeldNS: c.held / c.calls, Opened: c.opened, Stack: frames, Sampled: c.calls,
			})
		}
	}
	for id, op := range t.ops {
		f := op.figures.minus(before.ops[id].figures)
		kind := kinds[op.kind]
		if f.calls <= 0 {
			continue
		}
		if id == 0 || kind == "" {
			result.Others += f.calls
			continue
		}
		result.Operations = append(result.Operations, operation.Operation{
			ID: id, Kind: kind, Text: op.text, Calls: f.calls, Errors: f.errors, TotalNS: f.nanos, MaxNS: f.longest,
			Rows: f.rows, Opened: f.opened, NoDeadline: f.undated, HeldNS: f.held, Callers: mostFrequent(callers[id]),
			Duplicates: op.duplicates - before.ops[id].duplicates,
		})
	}
	slices.SortFunc(result.Operations, func(a, b operation.Operation) int {
		return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(a.ID, b.ID))
	})
	return result
}

// mostFrequent keeps the callers seen most often. Shares are of all sampled calls, so
// that those of the kept callers may sum to less than 1.
func mostFrequent(callers []operation.Caller) []operation.Caller {
	var all int64
	for _, c := range callers {
		all += c.Sampled
	}
	for i := range callers {
		callers[i].Share = float64(callers[i].Sampled) / float64(all)
	}
	slices.SortFunc(callers, func(a, b operation.Caller) int {
		return cmp.Or(cmp.Compare(b.Sampled, a.Sampled), cmp.Compare(b.MeanNS, a.MeanNS))
	})
	return callers[:min(len(callers), maxCallers)]
}
