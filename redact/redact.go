// Package redact keeps secrets out of all that redline writes and prints: one
// set of rules, by name, by form and by value.
//
// By name: what stands behind a name that says secret (password=, "token":,
// --api-key, X-Auth-User:), as far as the place shows that it is a name with a
// value. By form: what is a secret wherever it stands (a JSON web token, a
// private key, the password of a URL, a key of a well-known maker). By value:
// what a run learnt from its own plan and environment, also when it comes back
// encoded. docs/bundle.md states the rules for users.
//
// Two strengths: Text is for what people and programs wrote, and looks at names
// too; Sweep looks at forms and values only, and is safe on texts in which a
// name proves nothing: SQL, labels, the names of functions.
//
// It is pure, and linear in its input: nothing of it belongs into the path of a
// request, only to what is kept.
//
// Rejected: a list of patterns of a secret scanner (gitleaks holds 200, most for
// source code, and costs milliseconds per kilobyte); marks of equal length
// everywhere (they give the length away).
package redact

import (
	"slices"
	"strings"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// Redactor hides secrets by name and form, and those whose values it learnt.
// The zero Redactor and nil have learnt none. Once it has learnt, its methods may
// be called concurrently.
type Redactor struct {
	values values
	names  []string // of headers and the like that a user added, in lower case
}

// New returns a Redactor that takes further names for secret.
func New(names ...string) *Redactor {
	r := &Redactor{}
	for _, name := range names {
		r.names = append(r.names, strings.ToLower(name))
	}
	return r
}

// Secret reports whether a header's or a column's name says secret, and is
// strict: "X-Auth-User" does.
func (r *Redactor) Secret(name string) bool {
	return r != nil && slices.Contains(r.names, strings.ToLower(name)) || headerName(name)
}

// Text hides secrets by name, form and value in any text: a line of a log, a
// message, a URL, a command, a body. What it returns it leaves as it is.
func (r *Redactor) Text(text string) string { return untilStable(text, r.text) }

// Sweep hides secrets by form and value only.
func (r *Redactor) Sweep(text string) string { return untilStable(text, r.sweep) }

// Text hides secrets by name and form.
func Text(text string) string { return (*Redactor)(nil).Text(text) }

// untilStable repeats a pass until nothing changes: what one rule has hidden may end
// what another one sees. It is bounded, and most texts need none.
func untilStable(text string, pass func(string) string) string {
	const most = 4
	for range most {
		next := pass(text)
		if next == text {
			break
		}
		text = next
	}
	return text
}

func (r *Redactor) text(text string) string {
	return r.sweep(r.named(text))
}

func (r *Redactor) sweep(text string) string {
	if r != nil {
		text = r.values.hide(text)
	}
	return hideForms(text)
}
