package measured

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/statement"
)

// relays returns the user's lines that pass on what they are given: by the sources of a target that
// redline built, or because only their callers decide which table they ask.
func (p *Run) relays() callstack.Lines {
	ops, lines := p.Operations(), callstack.LinesOf(p.Sources().Relays)
	if ops == nil {
		return lines
	}
	stacks := callstack.NewIndex(callstack.Code{Module: p.Stacks.Module, Relays: lines})
	for { // a repository's methods may share one that runs the statements of all
		more := decided(stacks, ops.Operations)
		if len(more) == 0 {
			return lines
		}
		for _, f := range more {
			lines.Add(f)
		}
	}
}

// tables are what one line of the user's asks, by the user's frames that led there.
type tables struct {
	at    code.Frame
	by    map[string][]string
	alone bool // nobody of the user's called its function
}

// decided returns the lines at which callers decide which table a statement is about: on each path to a
// line it is about one table, and there are several. So a repository runs the statements of all its types.
func decided(stacks *callstack.Index, ops []operation.Operation) (lines []code.Frame) {
	all := map[code.Frame]*tables{}
	for _, o := range ops {
		table := statement.Table(o.Text)
		if !o.Kind.Statement() || table == "" {
			continue
		}
		for _, c := range o.Callers {
			stack := stacks.Asked(c.Stack)
			i := stacks.Innermost(stack)
			if i < 0 {
				continue
			}
			t := all[stack[i]]
			if t == nil {
				t = &tables{at: stack[i], by: map[string][]string{}}
				all[t.at] = t
			}
			path := pathTo(stacks, stack[i].Function, stack[i+1:])
			t.alone = t.alone || path == ""
			if !slices.Contains(t.by[path], table) {
				t.by[path] = append(t.by[path], table)
			}
		}
	}
	for at, t := range all {
		if t.byCaller() {
			lines = append(lines, at)
		}
	}
	return lines
}

// pathTo returns the user's lines that led to a function, as a key.
func pathTo(stacks *callstack.Index, function string, outer []code.Frame) string {
	var path strings.Builder
	for _, f := range outer {
		if stacks.User(f) && callstack.Enclosing(f.Function) != callstack.Enclosing(function) {
			fmt.Fprintf(&path, "%s:%d ", f.Function, f.Line)
		}
	}
	return path.String()
}

func (t *tables) byCaller() bool {
	if t.alone {
		return false
	}
	all := map[string]bool{}
	for _, about := range t.by {
		if len(about) != 1 {
			return false
		}
		all[about[0]] = true
	}
	return len(all) > 1
}
