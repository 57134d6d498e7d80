package scenario

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario/feeder"
)

// SecretHeader reports whether the values of a header are secret: by its name, or
// because redact lists it.
func (p *Plan) SecretHeader(name string) bool { return redact.New(p.Redact...).Secret(name) }

// Hide makes the plan's Redactor hide a value that no field of the plan holds: the
// key of tokens, a variable of the environment.
func (p *Plan) Hide(value string) { p.secrets = append(p.secrets, value) }

// mostCells is how many values of feeders are examined for the form of a secret; all
// values of columns with a secret's name are learnt.
const mostCells = 10_000

// Redactor returns a redactor of the plan's secrets, by name, form and value: those in
// the plan itself, and those in the environment that the target inherits ("NAME=value",
// as in os.Environ; nil for none). A run makes one and passes it to everything that
// writes.
func (p *Plan) Redactor(environ []string) *redact.Redactor {
	r := redact.New(p.Redact...)
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		r.LearnNamed(name, value)
	}
	for name, value := range p.Target.Env {
		r.LearnNamed(name, value)
	}
	for _, value := range p.secrets {
		r.Learn(value)
	}
	r.LearnArgs(slices.Concat(p.Target.Exec, p.Target.Args))
	r.LearnArgs(p.Target.BuildFlags)
	for _, text := range []string{p.Target.Ready, p.Observe.Pprof, p.Observe.Postgres, p.Export.Prometheus,
		p.Export.Pyroscope, p.Export.OTLP} {
		r.LearnText(text)
	}
	for _, value := range []string{p.Observe.OTLPToken, p.Export.PrometheusToken, p.Export.PyroscopeToken,
		p.Export.OTLPToken, string(p.TLS.Key)} {
		r.Learn(value)
	}
	for _, request := range p.Requests {
		request.teach(r)
	}
	for _, t := range p.Data {
		teachRows(t, r)
	}
	return r
}

// teach makes a redactor learn a request's secrets.
func (r Request) teach(to *redact.Redactor) {
	to.LearnText(string(r.URL))
	to.LearnText(string(r.Body))
	for name, value := range r.Headers {
		text := string(value)
		to.LearnText(text)
		if !to.Secret(name) && !r.fromEnv[name] || strings.Contains(text, "{{") {
			continue
		}
		to.Learn(text)
		// A cookie is a list of pairs, and each may come back by itself.
		for pair := range strings.SplitSeq(text, ";") {
			if _, value, ok := strings.Cut(pair, "="); ok {
				to.Learn(value)
			}
		}
	}
	for _, c := range r.Checks {
		for _, text := range c.texts() {
			if to.LearnText(text); c.Header != "" && to.Secret(c.Header) {
				to.Learn(text)
			}
		}
	}
}

// teachRows makes a redactor learn a feeder's secrets. Signed tokens are known by
// their form.
func teachRows(t *feeder.Table, to *redact.Redactor) {
	if t == nil || t.Token {
		return
	}
	secret := make([]bool, len(t.Columns))
	for i, column := range t.Columns {
		secret[i] = to.Secret(column)
	}
	cells := 0
	for _, row := range t.Rows {
		for i, value := range row {
			if i < len(secret) && secret[i] {
				to.Learn(value)
			}
			if cells++; cells <= mostCells {
				to.LearnText(value)
			}
		}
	}
}

// Redacted returns the plan as JSON, for the record, without secrets: the
// values of secret headers and of those that came from the environment, and
// all that the plan's Redactor finds. The target's environment, the feeders' rows,
// the contents of TLS and gRPC files, and the paths of a replayed log are not in it
// at all.
func (p *Plan) Redacted() json.RawMessage {
	hide := p.Redactor(nil)
	c := *p
	c.Target.Exec = hide.Args(p.Target.Exec)
	c.Target.Args = hide.Args(p.Target.Args)
	c.Target.BuildFlags = hide.Args(p.Target.BuildFlags)
	for _, text := range []*string{&c.Name, &c.Target.Ready, &c.Observe.Pprof, &c.Observe.Postgres} {
		*text = hide.Text(*text)
	}
	c.Export = p.Export.redacted(hide)
	c.Warnings = slices.Clone(p.Warnings)
	for i, text := range c.Warnings {
		c.Warnings[i] = hide.Text(text)
	}
	c.Requests = make([]Request, len(p.Requests))
	for i, r := range p.Requests {
		c.Requests[i] = r.redacted(hide)
	}
	out, err := json.Marshal(&c)
	if err != nil {
		// A Plan holds only strings and finite numbers (Validate), which always
		// marshal; recording the error is still better than losing the record.
		out, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	return out
}

// redacted returns the request without secrets.
func (r Request) redacted(hide *redact.Redactor) Request {
	r.Headers = maps.Clone(r.Headers)
	for name, value := range r.Headers {
		if hide.Secret(name) || r.fromEnv[name] {
			r.Headers[name] = redact.Mark
		} else {
			r.Headers[name] = Secret(hide.Text(string(value)))
		}
	}
	r.Name = hide.Text(r.Name)
	r.URL = feeder.Template(hide.Text(string(r.URL)))
	r.Body = feeder.Template(hide.Text(string(r.Body)))
	r.Checks = slices.Clone(r.Checks)
	for i, check := range r.Checks {
		r.Checks[i] = check.redacted(hide)
	}
	return r
}

// nameless hides secrets in the names of requests and checks, which become labels
// of series and lines of reports. A name that would then equal another stays as it
// is, and the record hides it.
func (p *Plan) nameless() {
	taken := map[string]bool{}
	for _, r := range p.Requests {
		taken[r.Name] = true
	}
	for i := range p.Requests {
		r := &p.Requests[i]
		if clean := redact.Text(r.Name); !taken[clean] {
			r.Name = clean
			taken[clean] = true
		}
	}
}
