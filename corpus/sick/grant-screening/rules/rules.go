// Package rules screens applications for grants.
package rules

import "sort"

// Application is what an applicant sends.
type Application struct {
	Name     string `json:"name" binding:"required"`
	IBAN     string `json:"iban"`
	Postcode string `json:"postcode"`
	Cents    int64  `json:"cents"`
	Purpose  string `json:"purpose"`
}

// Verdict is the outcome of one rule.
type Verdict struct {
	Rule   string `json:"rule"`
	Passed bool   `json:"passed"`
	Reason string `json:"reason,omitempty"`
}

// Rule is one check of an application.
type Rule interface {
	Name() string
	Evaluate(Application) Verdict
}

// Factory makes a rule from its settings.
type Factory func(settings map[string]string) (Rule, error)

var factories = map[string]Factory{}

// Register makes a factory known by a name; rules do so in init.
func Register(name string, f Factory) { factories[name] = f }

// Engine evaluates its rules one after another.
type Engine struct{ rules []Rule }

// NewEngine makes every rule that is registered.
func NewEngine(settings map[string]map[string]string) (*Engine, error) {
	e := &Engine{}
	names := make([]string, 0, len(factories))
	for n := range factories {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		r, err := factories[n](settings[n])
		if err != nil {
			return nil, err
		}
		e.rules = append(e.rules, r)
	}
	return e, nil
}

// Screen returns the verdict of each rule.
func (e *Engine) Screen(a Application) []Verdict {
	out := make([]Verdict, 0, len(e.rules))
	for _, r := range e.rules {
		out = append(out, r.Evaluate(a))
	}
	return out
}
