// Package rules has what each council wants taken out of its notices.
package rules

import (
	"errors"
	"fmt"
)

// ErrCouncil says that a council has no rules.
var ErrCouncil = errors.New("unknown council")

// Rule is written by a clerk.
type Rule struct {
	Name    string
	Match   string
	Instead string
}

// Book has the rules of all councils.
type Book struct{ councils map[int][]Rule }

// Default returns the rules the councils agreed on.
func Default() *Book {
	common := []Rule{
		{"mail", `(?i)\b[\p{L}0-9._%+-]{1,64}@[a-z0-9-]{1,63}(\.[a-z]{2,12}){1,3}\b`, "[mail]"},
		{"phone", `\+?\d{2,3}[ /-]\d{3,4}[ /-]\d{2,4}`, "[phone]"},
		{"iban", `\b[A-Z]{2}\d{2}( ?[0-9A-Z]{4}){3,7}\b`, "[account]"},
		{"born", `(?i)born (on )?(the )?\d{1,2}[./-]\d{1,2}[./-](19|20)\d{2}`, "born [date]"},
		{"plate", `\b[A-Z]{1,3}-[A-Z]{1,2} ?\d{1,4}[EH]?\b`, "[plate]"},
		{"passport", `\b[CFGHJK][0-9CFGHJKLMNPRTVWXYZ]{8}\b`, "[passport]"},
		{"insurance", `\b\d{2} ?[0-3]\d[01]\d{3} ?[A-Z] ?\d{3}\b`, "[insurance]"},
		{"street", `(?i)\b(at|in) [\p{L}-]{3,24} (street|lane|road|square|mews) \d{1,3}[a-f]?\b`, "[street]"},
		{"case", `(?i)\bcase (no\.? )?\d{1,4}/\d{2}(\d{2})?\b`, "[case]"},
	}
	b := &Book{councils: map[int][]Rule{}}
	for council := range 60 {
		own := append([]Rule(nil), common...)
		own = append(own, Rule{"file", fmt.Sprintf(`\bC%02d/[A-Z]{2}/\d{3,6}(-[a-z])?\b`, council), "[file]"})
		b.councils[council] = own
	}
	return b
}

// Of returns the rules of a council.
func (b *Book) Of(council int) ([]Rule, error) {
	r, ok := b.councils[council]
	if !ok {
		return nil, ErrCouncil
	}
	return r, nil
}
