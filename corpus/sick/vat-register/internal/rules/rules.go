// Package rules knows what tax numbers of countries look like.
package rules

import (
	"errors"
	"regexp"
	"sync"
)

// ErrCountry says that the country is not known.
var ErrCountry = errors.New("unknown country")

var patterns = map[string]string{
	"AT": `^ATU\d{8}$`,
	"BE": `^BE[01]\d{9}$`,
	"DE": `^DE\d{9}$`,
	"DK": `^DK(\d{2} ?){3}\d{2}$`,
	"ES": `^ES([A-Z]\d{7}[A-Z]|\d{8}[A-Z]|[A-Z]\d{8})$`,
	"FR": `^FR[A-HJ-NP-Z0-9]{2}\d{9}$`,
	"GB": `^GB(\d{9}|\d{12}|(GD|HA)\d{3})$`,
	"IE": `^IE(\d{7}[A-W][A-I]?|\d[A-Z+*]\d{5}[A-W])$`,
	"IT": `^IT\d{11}$`,
	"NL": `^NL\d{9}B\d{2}$`,
	"PL": `^PL\d{10}$`,
	"SE": `^SE\d{10}01$`,
}

// Validator checks numbers.
type Validator struct{ byCountry map[string]*regexp.Regexp }

// New makes a validator.
func New() *Validator {
	v := &Validator{byCountry: make(map[string]*regexp.Regexp, len(patterns))}
	for country, p := range patterns {
		v.byCountry[country] = regexp.MustCompile(p)
	}
	return v
}

// Check says whether a number is well-formed.
func (v *Validator) Check(number string) (bool, error) {
	if len(number) < 3 {
		return false, ErrCountry
	}
	re, ok := v.byCountry[number[:2]]
	if !ok {
		return false, ErrCountry
	}
	return re.MatchString(number), nil
}

// Factory gives a validator for a request.
type Factory func() *Validator

// Shared gives all requests the same validator.
func Shared() Factory { return sync.OnceValue(New) }
