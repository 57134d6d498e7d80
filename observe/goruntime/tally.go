package goruntime

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/redline-go/redline/probe/operations"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
)

// operationKinds names the probe's numbers.
var operationKinds = map[int]operation.Kind{
	operations.Query: operation.Query, operations.Exec: operation.Exec, operations.Prepare: operation.Prepare,
	operations.Acquire: operation.Acquire, operations.Transaction: operation.Transaction,
	operations.Batch: operation.Batch, operations.Copy: operation.Copy, operations.HTTP: operation.HTTP,
	operations.Dial: operation.Dial, operations.RPC: operation.RPC, operations.Redis: operation.Redis,
}

// tally holds the probe's counts up to one instant.
type tally struct {
	ops     map[int]tallied
	callers map[callerKey]counted
	stacks  map[int][]code.Frame
}

type tallied struct {
	figures counted
	kind    int
	text    string
}

type callerKey struct{ op, stack int }

// counted are figures in the order in which the probe writes them.
type counted struct{ calls, errors, nanos, longest, rows, opened, undated, held int64 }

// minus returns the difference to an earlier reading. The longest is of the whole time.
func (c counted) minus(b counted) counted {
	return counted{c.calls - b.calls, c.errors - b.errors, c.nanos - b.nanos, c.longest, c.rows - b.rows, c.opened - b.opened, c.undated - b.undated, c.held - b.held}
}

// Bounds on a target's input.
const (
	maxTallied = 1 << 16
	maxFrames  = 64
	maxLine    = 64 << 10
)

// parseTally reads the output of operations.Write.
func parseTally(r io.Reader) (*tally, error) {
	t := &tally{ops: map[int]tallied{}, callers: map[callerKey]counted{}, stacks: map[int][]code.Frame{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	stack := 0
	for lines.Scan() {
		what, rest, _ := strings.Cut(lines.Text(), " ")
		var err error
		switch what {
		case "op":
			err = t.operation(rest)
		case "at":
			err = t.caller(rest)
		case "stack":
			if stack, err = strconv.Atoi(rest); err == nil && len(t.stacks) < maxTallied {
				t.stacks[stack] = nil
			}
		case "frame":
			err = t.frame(stack, rest)
		} // a line of a later probe is left out
		if err != nil {
			return nil, fmt.Errorf("operations: line %.60q: %w", lines.Text(), err)
		}
	}
	return t, lines.Err()
}

// numbers reads n whole numbers off a line.
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

func figuresOf(n []int64) counted {
	return counted{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]}
}

func (t *tally) operation(line string) error {
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

func (t *tally) caller(line string) error {
	n, _, err := numbers(line, 10)
	if err == nil && len(t.callers) < maxTallied {
		t.callers[callerKey{int(n[0]), int(n[1])}] = figuresOf(n[2:])
	}
	return err
}

func (t *tally) frame(stack int, line string) error {
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
