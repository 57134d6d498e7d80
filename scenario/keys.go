package scenario

import (
	"math"
	"net/textproto"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// The keys of a scenario, section by section. Feeders and requests have files
// of their own.

func (d *decoder) root(n ast.Node) {
	// Requests hold places of the feeders, so data comes first wherever it
	// stands in the file.
	var requests ast.Node
	var data bool
	seen := d.mapping(n, "a scenario", []key{
		{name: "data", decode: func(d *decoder, n ast.Node) { d.data(n); data = true }},
		{name: "target", decode: (*decoder).target},
		{name: "load", decode: (*decoder).load},
		{name: "requests", decode: func(_ *decoder, n ast.Node) { requests = n }},
		{name: "observe", decode: (*decoder).observe},
		{name: "thresholds", decode: (*decoder).thresholds},
		{name: "redact", decode: (*decoder).redact},
		{name: "faults", later: true},
	})
	if !data {
		d.plan.Data = map[string]*Table{}
	}
	if seen["requests"] == nil {
		if len(d.errs) == 0 { // else it may be the unknown key
			d.note(&Error{File: d.file, Msg: "the scenario has no requests", Hint: `add requests: [ {get: "http://127.0.0.1:8080/"} ]`})
		}
		return
	}
	d.requests(requests, seen["requests"])
}

func (d *decoder) load(n ast.Node) {
	l := &d.plan.Load
	duration := func(name string, to *time.Duration, parse func(string) (time.Duration, error)) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) { scalar(d, n, name, to, parse) }}
	}
	count := func(s string) (int, error) { return parseCount(s, 1, MaxConnections) }
	var stages ast.Node
	var limit int
	seen := d.mapping(n, "load", []key{
		{name: "rate", decode: func(d *decoder, n ast.Node) { scalar(d, n, "rate", &l.Rate, ParseRate) }},
		{name: "connections", decode: func(d *decoder, n ast.Node) { scalar(d, n, "connections", &l.Connections, count) }},
		{name: "max_connections", decode: func(d *decoder, n ast.Node) { scalar(d, n, "max_connections", &limit, count) }},
		duration("duration", &l.Duration, positiveDuration), duration("warmup", &l.Warmup, ParseDuration),
		duration("timeout", &l.Timeout, positiveDuration), duration("grace", &l.Grace, positiveDuration),
		{name: "stages", decode: func(_ *decoder, n ast.Node) { stages = n }},
	})
	if at := seen["connections"]; at != nil && seen["rate"] != nil {
		d.fail(at, "keep one; max_connections caps the connections of a rate", "rate (open loop) and connections (closed loop) exclude each other")
		return
	}
	if at := seen["max_connections"]; at != nil {
		if seen["rate"] == nil {
			d.fail(at, "use connections", "max_connections caps the connections of a rate, and there is none")
		}
		l.Connections = limit
	}
	d.stages(stages, seen["rate"] != nil)
}

func (d *decoder) stages(n ast.Node, open bool) {
	if n == nil {
		return
	}
	for _, e := range d.elements(n, "stages") {
		var s Stage
		seen := d.mapping(e, "a stage", []key{
			{name: "to", decode: func(d *decoder, n ast.Node) {
				if open {
					scalar(d, n, "to", &s.To, ParseRate)
					return
				}
				scalar(d, n, "to", &s.To, func(text string) (float64, error) {
					n, err := parseCount(text, 1, MaxConnections)
					return float64(n), err
				})
			}},
			{name: "over", decode: func(d *decoder, n ast.Node) { scalar(d, n, "over", &s.Over, positiveDuration) }},
		})
		for _, name := range []string{"to", "over"} {
			if seen[name] == nil {
				d.fail(e, "write it as {to: 4000/s, over: 10s}", "a stage has no %s", name)
			}
		}
		d.plan.Load.Stages = append(d.plan.Load.Stages, s)
	}
}

func (d *decoder) target(n ast.Node) {
	t := &d.plan.Target
	seen := d.mapping(n, "target", []key{
		{name: "build", decode: func(d *decoder, n ast.Node) { scalar(d, n, "build", &t.Build, notEmpty) }},
		{name: "exec", decode: func(d *decoder, n ast.Node) {
			if _, list := n.(*ast.SequenceNode); list {
				t.Exec = d.texts(n, "exec")
				return
			}
			scalar(d, n, "exec", &t.Exec, SplitCommand)
		}},
		{name: "pid", decode: func(d *decoder, n ast.Node) {
			scalar(d, n, "pid", &t.PID, func(s string) (int, error) { return parseCount(s, 1, math.MaxInt32) })
		}},
		{name: "args", decode: func(d *decoder, n ast.Node) { t.Args = d.texts(n, "args") }},
		{name: "env", decode: (*decoder).targetEnv},
		{name: "ready", decode: func(d *decoder, n ast.Node) { scalar(d, n, "ready", &t.Ready, checkURL) }},
		{name: "ready_timeout", decode: func(d *decoder, n ast.Node) { scalar(d, n, "ready_timeout", &t.ReadyTimeout, positiveDuration) }},
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

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (d *decoder) targetEnv(n ast.Node) {
	d.plan.Target.Env = map[string]string{}
	for _, entry := range d.entries(n, "env") {
		name, ok := d.keyText(entry)
		if !ok {
			continue
		}
		if !envName.MatchString(name) {
			d.fail(entry.Key, "", "%q is not the name of a variable", name)
			continue
		}
		if value, _, ok := d.expanded(entry.Value, name); ok {
			d.plan.Target.Env[name] = value
		}
	}
}

func (d *decoder) observe(n ast.Node) {
	o := &d.plan.Observe
	d.mapping(n, "observe", []key{
		{name: "pprof", decode: func(d *decoder, n ast.Node) { scalar(d, n, "pprof", &o.Pprof, checkURL) }},
		{name: "postgres", decode: func(d *decoder, n ast.Node) {
			if dsn, _, ok := d.expanded(n, "postgres"); ok {
				o.Postgres = dsn
			}
		}},
		{name: "otlp", later: true},
		{name: "spans", later: true},
	})
}

func (d *decoder) thresholds(n ast.Node) {
	for _, e := range d.elements(n, "thresholds") {
		var t Threshold
		before := len(d.errs)
		scalar(d, e, "threshold", &t, ParseThreshold)
		if len(d.errs) == before {
			d.plan.Thresholds = append(d.plan.Thresholds, t)
		}
	}
}

func (d *decoder) redact(n ast.Node) {
	for _, e := range d.elements(n, "redact") {
		var name string
		scalar(d, e, "redact", &name, checkHeaderName)
		d.plan.Redact = append(d.plan.Redact, textproto.CanonicalMIMEHeaderKey(name))
	}
}

// variable is $NAME, ${NAME} or $$.
var variable = regexp.MustCompile(`\$(?:\$|([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})`)

// expanded returns a text with its variables replaced, and whether it had any.
// A variable that is not set is a mistake: an empty password or token would
// fail later, and further from its cause.
func (d *decoder) expanded(n ast.Node, where string) (text string, changed, ok bool) {
	text, ok = d.text(n, where)
	if !ok {
		return "", false, false
	}
	text = variable.ReplaceAllStringFunc(text, func(match string) string {
		m := variable.FindStringSubmatch(match)
		name := m[1] + m[2]
		if name == "" {
			return "$"
		}
		changed = true
		value, set := d.env(name)
		if !set {
			d.fail(n, "export "+name+" first; $$ stands for a dollar sign", "%s: the variable %s is not set in the environment", where, name)
			ok = false
		}
		return value
	})
	return text, changed, ok
}

func notEmpty(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", mistakef("", "it is empty")
	}
	return s, nil
}
