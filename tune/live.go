package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/redline-go/redline/redact"
)

// Request is how a live knob is set and read: by HTTP, while the service runs.
type Request struct {
	Method string // PUT, POST or PATCH
	// URL and Body together hold {} exactly once, where the value goes. A URL without scheme is a
	// path on the host that the load goes to.
	URL  string
	Body string // empty for none
	// Name is the value's name: the parameter or JSON member before {}; empty if the value is part of
	// the path.
	Name string
}

// placeholder is where the value goes.
const placeholder = "{}"

var (
	methods   = regexp.MustCompile(`^(PUT|POST|PATCH) +`)
	parameter = regexp.MustCompile(`[?&]([A-Za-z0-9_.-]+)=\{\}`)
	member    = regexp.MustCompile(`"([^"{}]+)"\s*:\s*"?\{\}`)
	field     = regexp.MustCompile(`(?:^|&)([A-Za-z0-9_.-]+)=\{\}`)
)

// parseRequest reads what follows "http:" in a knob's name: [METHOD ]URL[ BODY].
func parseRequest(text string) (r Request, err error) {
	r.Method = "PUT"
	if m := methods.FindString(text); m != "" {
		r.Method, text = strings.TrimSpace(m), text[len(m):]
	}
	r.URL, r.Body, _ = strings.Cut(text, " ")
	r.Body = strings.TrimSpace(r.Body)
	const form = "(hint: 'http:/admin/pool?size={}=2..64' or 'http:POST /admin/pool {\"size\": {}}=2..64')"
	switch {
	case !strings.HasPrefix(r.URL, "/") && !strings.HasPrefix(r.URL, "http://") && !strings.HasPrefix(r.URL, "https://"):
		return r, fmt.Errorf("%q is neither a path nor an http URL %s", r.URL, form)
	case strings.Count(r.URL+r.Body, placeholder) != 1:
		return r, fmt.Errorf("%s must occur exactly once, where the value goes %s", placeholder, form)
	case strings.Contains(r.URL, "@"), redact.Text(text) != text:
		return r, errors.New("it holds a secret, and a tune prints and keeps its knobs")
	}
	for at, of := range map[*regexp.Regexp]string{parameter: r.URL, member: r.Body, field: r.Body} {
		if m := at.FindStringSubmatch(of); m != nil {
			r.Name = m[1]
		}
	}
	if r.Name != "" && redact.New().Secret(r.Name) {
		return r, fmt.Errorf("%q is named like a secret, and a tune prints and keeps the values of its knobs", r.Name)
	}
	return r, nil
}

// Read is the URL that returns the present value, if the service offers that: the one that sets it, without
// the value.
func (r Request) Read() string {
	before, after, in := strings.Cut(r.URL, placeholder)
	if !in {
		return r.URL
	}
	if !strings.Contains(before, "?") {
		return strings.TrimRight(before, "/") + after
	}
	// Remove the parameter and keep the others.
	before = strings.TrimSuffix(before, r.Name+"=")
	return strings.TrimRight(before+strings.TrimPrefix(after, "&"), "?&")
}

// Answer finds the value in the service's reply at Read: the JSON member with the knob's name at any
// depth, the only word of a text, or the word after "name=" or "name:"; false if there is none.
func (r Request) Answer(body []byte) (string, bool) {
	var tree any
	if json.Unmarshal(body, &tree) == nil {
		switch v := tree.(type) {
		case map[string]any, []any:
			return inTree(v, r.Name)
		}
		return word(tree)
	}
	text := strings.TrimSpace(string(body))
	if len(strings.Fields(text)) == 1 && len(text) <= mostWord && !strings.ContainsAny(text, "<>=:") {
		return text, true
	}
	if r.Name == "" {
		return "", false
	}
	after := regexp.MustCompile(`(?m)(?:^|[\s,;&])` + regexp.QuoteMeta(r.Name) + `\s*[=:]\s*([^\s,;&]+)`)
	if m := after.FindStringSubmatch(text); m != nil && len(m[1]) <= mostWord {
		return m[1], true
	}
	return "", false
}

// mostWord bounds the length of a value that is read, in bytes.
const mostWord = 64

// inTree looks for a member by name, outermost first.
func inTree(tree any, name string) (string, bool) {
	switch v := tree.(type) {
	case map[string]any:
		if found, ok := v[name]; ok && name != "" {
			return word(found)
		}
		for _, below := range v {
			if found, ok := inTree(below, name); ok {
				return found, true
			}
		}
	case []any:
		for _, below := range v {
			if found, ok := inTree(below, name); ok {
				return found, true
			}
		}
	}
	return "", false
}

func word(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, v != "" && len(v) <= mostWord
	case float64, bool:
		text, err := json.Marshal(v)
		return string(text), err == nil
	}
	return "", false
}

// Alike reports whether two texts are the same value: equal numbers, or equal
// words.
func Alike(a, b string) bool {
	x, isNumber := Amount(a)
	y, both := Amount(b)
	if isNumber && both {
		return x == y
	}
	return a == b
}

// Words formats the request that sets a value.
func (r Request) Words(value string) string {
	out := r.Method + " " + strings.Replace(r.URL, placeholder, value, 1)
	if r.Body != "" {
		out += " " + strings.Replace(r.Body, placeholder, value, 1)
	}
	return out
}
