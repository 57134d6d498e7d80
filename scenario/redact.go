package scenario

import (
	"encoding/json"
	"maps"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
)

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// secretHeaders are never written down, whatever a scenario says.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Auth-Token"}

// secretName matches names of keys, flags, query parameters and headers whose
// values are secrets by convention.
var secretName = regexp.MustCompile(`(?i)(passw(or)?d|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|signature|session[-_]?id|^sig$|^auth$|^key$|[-_]key$)`)

var (
	// userinfo is the user:password part of a URL, as text, so that it is
	// found in what is no valid URL too.
	userinfo = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)([^/?#\s"'@]*):([^/?#\s"']*)@`)
	// parameter is a name=value of a query, a form or a keyword DSN.
	parameter = regexp.MustCompile(`([A-Za-z0-9_.\-]+)(\s*=\s*)('(?:[^'\\]|\\.)*'|[^&\s;#"']+)`)
	// property is a "name": "value" of JSON.
	property = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"(\s*:\s*)("(?:[^"\\]|\\.)*"|[-0-9.eE+]+)`)
	// onlyPlace is a value that is a template's place and tells nothing.
	onlyPlace = regexp.MustCompile(`^"?\{\{[^{}]*\}\}"?$`)
)

// RedactText hides what is a secret by its form in any text: passwords in
// URLs, and the values of parameters and JSON properties with the name of a
// secret. It is for URLs, commands, DSNs, request bodies, and lines that a
// target prints.
func RedactText(text string) string {
	text = userinfo.ReplaceAllString(text, "${1}${2}:"+Redacted+"@")
	text = replaceValue(parameter, text, Redacted)
	return replaceValue(property, text, `"`+Redacted+`"`)
}

// replaceValue replaces the third group where the first is a secret's name.
func replaceValue(form *regexp.Regexp, text, by string) string {
	return form.ReplaceAllStringFunc(text, func(match string) string {
		m := form.FindStringSubmatch(match)
		if !secretName.MatchString(m[1]) || onlyPlace.MatchString(m[3]) {
			return match
		}
		return match[:len(match)-len(m[3])] + by
	})
}

// RedactCommand hides secrets in a command's arguments: as RedactText does,
// and the argument after a flag with the name of a secret.
func RedactCommand(args []string) []string {
	if args == nil {
		return nil
	}
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = RedactText(arg)
		if i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.Contains(args[i-1], "=") &&
			!strings.HasPrefix(arg, "-") && secretName.MatchString(strings.TrimLeft(args[i-1], "-")) {
			out[i] = Redacted
		}
	}
	return out
}

// SecretHeader reports whether the plan keeps the values of a header to
// itself: the built-in names, names that say so, and those under redact.
func (p *Plan) SecretHeader(name string) bool {
	for _, list := range [][]string{secretHeaders, p.Redact} {
		for _, secret := range list {
			if textproto.CanonicalMIMEHeaderKey(secret) == textproto.CanonicalMIMEHeaderKey(name) {
				return true
			}
		}
	}
	return secretName.MatchString(name)
}

// Redacted returns the plan as JSON, for the record, without secrets: the
// values of secret headers and of those that came from the environment,
// passwords, and parameters with the name of a secret. The target's
// environment, the feeders' rows, what the files of TLS and gRPC hold and the
// paths of a replayed log are not in it at all.
func (p *Plan) Redacted() json.RawMessage {
	c := *p
	c.Target.Exec = RedactCommand(p.Target.Exec)
	c.Target.Args = RedactCommand(p.Target.Args)
	c.Target.Ready = RedactText(p.Target.Ready)
	c.Observe.Pprof = RedactText(p.Observe.Pprof)
	c.Observe.Postgres = RedactText(p.Observe.Postgres)
	c.Export = p.Export.redacted()
	c.Requests = make([]Request, len(p.Requests))
	for i, r := range p.Requests {
		r.Headers = maps.Clone(r.Headers)
		for name, value := range r.Headers {
			if p.SecretHeader(name) || r.fromEnv[name] {
				r.Headers[name] = Redacted
			} else {
				r.Headers[name] = Secret(RedactText(string(value)))
			}
		}
		r.URL = Template(RedactText(string(r.URL)))
		r.Body = Template(RedactText(string(r.Body)))
		r.Checks = slices.Clone(r.Checks)
		for i, check := range r.Checks {
			r.Checks[i] = check.redacted(p.SecretHeader)
		}
		c.Requests[i] = r
	}
	out, err := json.Marshal(&c)
	if err != nil {
		// A Plan holds strings and finite numbers only (Validate), which
		// always marshal; say so rather than lose the record.
		out, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	return out
}
