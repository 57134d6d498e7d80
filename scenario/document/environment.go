package document

import (
	"regexp"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/redact"
)

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
			d.fail(n, "export "+name+" first; $$ stands for a dollar sign",
				"%s: the variable %s is not set in the environment", where, name)
			ok = false
		}
		if redact.New().Secret(name) {
			d.plan.Hide(value)
		}
		return value
	})
	return text, changed, ok
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
