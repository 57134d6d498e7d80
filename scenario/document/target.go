package document

import (
	"math"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario/protocol"
	"github.com/redline-go/redline/scenario/scalar"
)

func (d *decoder) target(n ast.Node) {
	t := &d.plan.Target
	seen := d.mapping(n, "target", []key{
		{name: "build", decode: func(d *decoder, n ast.Node) { parsed(d, n, "build", &t.Build, scalar.ParseText) }},
		{name: "exec", decode: func(d *decoder, n ast.Node) {
			if _, list := n.(*ast.SequenceNode); list {
				t.Exec = d.texts(n, "exec")
				return
			}
			parsed(d, n, "exec", &t.Exec, scalar.SplitCommand)
		}},
		{name: "pid", decode: func(d *decoder, n ast.Node) {
			parsed(d, n, "pid", &t.PID, func(s string) (int, error) { return scalar.ParseCount(s, 1, math.MaxInt32) })
		}},
		{name: "instrument", decode: func(d *decoder, n ast.Node) {
			instrument := true
			parsed(d, n, "instrument", &instrument, scalar.ParseBool)
			t.Plain = !instrument
		}},
		{name: "build_flags", decode: func(d *decoder, n ast.Node) {
			if _, list := n.(*ast.SequenceNode); list {
				t.BuildFlags = d.texts(n, "build_flags")
				return
			}
			parsed(d, n, "build_flags", &t.BuildFlags, scalar.SplitCommand)
		}},
		{name: "dir", decode: func(d *decoder, n ast.Node) { parsed(d, n, "dir", &t.Dir, scalar.ParseText) }},
		{name: "args", decode: func(d *decoder, n ast.Node) { t.Args = d.texts(n, "args") }},
		{name: "env", decode: (*decoder).targetEnv},
		{name: "ready", decode: func(d *decoder, n ast.Node) { parsed(d, n, "ready", &t.Ready, protocol.CheckURL) }},
		{name: "ready_timeout", decode: func(d *decoder, n ast.Node) { parsed(d, n, "ready_timeout", &t.ReadyTimeout, scalar.ParsePositive) }},
	})
	first := ""
	for _, name := range []string{"build", "exec", "pid"} {
		if seen[name] == nil {
			continue
		}
		if first != "" {
			d.fail(seen[name], "keep one", "%s and %s exclude each other", first, name)
		}
		first = name
	}
}
