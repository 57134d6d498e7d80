package scenario

import (
	"math"
	"net/textproto"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/redact"
)

// The keys of a scenario, section by section. Feeders and requests have files
// of their own.

func (d *decoder) root(n ast.Node) {
	// Requests hold placeholders of the feeders and are of the plan's protocol, so
	// they come last wherever they stand in the file.
	var requests ast.Node
	seen := d.mapping(n, "a scenario", []key{
		{name: "data", decode: (*decoder).data},
		{name: "target", decode: (*decoder).target},
		{name: "load", decode: (*decoder).load},
		{name: "requests", decode: func(_ *decoder, n ast.Node) { requests = n }},
		{name: "protocol", decode: func(d *decoder, n ast.Node) { scalar(d, n, "protocol", &d.plan.Protocol, parseProtocol) }},
		{name: "tls", decode: (*decoder).tls},
		{name: "grpc", decode: (*decoder).grpc},
		{name: "observe", decode: (*decoder).observe},
		{name: "export", decode: (*decoder).export},
		{name: "thresholds", decode: (*decoder).thresholds},
		{name: "verify", decode: (*decoder).verify},
		{name: "hosts", decode: (*decoder).hosts},
		{name: "redact", decode: (*decoder).redact},
		{name: "faults", later: true},
	})
	d.remember("", seen)
	if d.plan.Data == nil {
		d.plan.Data = map[string]*Table{}
	}
	if d.replayAt != nil {
		if at := seen["requests"]; at != nil {
			d.fail(at, "the log has the requests; replay takes base, headers and methods", "requests and load.replay exclude each other")
			return
		}
		d.replay(d.replayAt)
		return
	}
	if seen["requests"] == nil {
		if len(d.errs) == 0 { // else it may be the unknown key
			d.note(&Error{File: d.file, Msg: "the scenario has no requests", Hint: `add requests: [ {get: "http://127.0.0.1:8080/"} ]`})
		}
		return
	}
	d.requests(requests, seen["requests"])
}

// parseProtocol parses the protocols that a scheme alone does not decide.
func parseProtocol(text string) (Protocol, error) {
	switch p := Protocol(text); p {
	case HTTP1, HTTP2:
		return p, nil
	case RPC, WebSocket, TCP:
		return "", mistakef("leave it out", "the URL's scheme says %s already", text)
	}
	return "", mistakef("write h2 or http/1.1", "%.40q is not a protocol", text)
}

func parseBool(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, mistakef("", "%.40q is neither true nor false", text)
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
		{name: "instrument", decode: func(d *decoder, n ast.Node) {
			instrument := true
			scalar(d, n, "instrument", &instrument, parseBool)
			t.Plain = !instrument
		}},
		{name: "build_flags", decode: func(d *decoder, n ast.Node) {
			if _, list := n.(*ast.SequenceNode); list {
				t.BuildFlags = d.texts(n, "build_flags")
				return
			}
			scalar(d, n, "build_flags", &t.BuildFlags, SplitCommand)
		}},
		{name: "dir", decode: func(d *decoder, n ast.Node) { scalar(d, n, "dir", &t.Dir, notEmpty) }},
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
		{name: "otlp", decode: func(d *decoder, n ast.Node) { scalar(d, n, "otlp", &o.OTLP, ParseOTLP) }},
		{name: "otlp_token", decode: func(d *decoder, n ast.Node) {
			if token, _, ok := d.expanded(n, "otlp_token"); ok {
				o.OTLPToken = token
			}
		}},
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
		if redact.New().Secret(name) {
			d.plan.secrets = append(d.plan.secrets, value)
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
