package rules

import (
	"os"
	"regexp"
	"strings"
)

// account checks the form of an account's number country by country.
type account struct {
	forms map[string]string
	known map[string]*regexp.Regexp
}

func newAccount(s map[string]string) (Rule, error) {
	r := &account{forms: s}
	if os.Getenv("FIXED") == "1" {
		r.known = map[string]*regexp.Regexp{}
		for country, form := range s {
			r.known[country] = regexp.MustCompile(form)
		}
	}
	return r, nil
}

func (*account) Name() string { return "account" }

func (r *account) Evaluate(a Application) Verdict {
	number := strings.ReplaceAll(a.IBAN, " ", "")
	if len(number) < 4 {
		return Verdict{Rule: r.Name(), Reason: "too short"}
	}
	form := r.form(number[:2])
	return Verdict{Rule: r.Name(), Passed: form != nil && form.MatchString(number)}
}

func (r *account) form(country string) *regexp.Regexp {
	if re := r.known[country]; re != nil {
		return re
	}
	re, err := regexp.Compile(r.forms[country])
	if err != nil {
		return nil
	}
	return re
}
