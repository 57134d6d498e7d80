package rules

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

func init() {
	Register("amount", func(s map[string]string) (Rule, error) {
		most, err := strconv.ParseInt(s["most"], 10, 64)
		return amount{most}, err
	})
	Register("postcode", func(s map[string]string) (Rule, error) {
		re, err := regexp.Compile(s["pattern"])
		return &postcode{re}, err
	})
	Register("purpose", func(s map[string]string) (Rule, error) {
		return purpose{strings.Split(s["banned"], ",")}, nil
	})
	Register("account", newAccount)
}

type amount struct{ most int64 }

func (amount) Name() string { return "amount" }
func (r amount) Evaluate(a Application) Verdict {
	if a.Cents > r.most {
		return Verdict{Rule: r.Name(), Reason: fmt.Sprintf("%d is above %d", a.Cents, r.most)}
	}
	return Verdict{Rule: r.Name(), Passed: true}
}

type postcode struct{ re *regexp.Regexp }

func (*postcode) Name() string { return "postcode" }
func (r *postcode) Evaluate(a Application) Verdict {
	return Verdict{Rule: r.Name(), Passed: r.re.MatchString(a.Postcode)}
}

type purpose struct{ banned []string }

func (purpose) Name() string { return "purpose" }
func (r purpose) Evaluate(a Application) Verdict {
	text := strings.ToLower(a.Purpose)
	for _, b := range r.banned {
		if strings.Contains(text, b) {
			return Verdict{Rule: r.Name(), Reason: b}
		}
	}
	return Verdict{Rule: r.Name(), Passed: true}
}
