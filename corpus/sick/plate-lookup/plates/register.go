// Package plates knows the number plates of Europe.
package plates

import (
	"errors"
	"strings"
	"unicode"
)

// ErrUnreadable is returned for a text that is no plate at all.
var ErrUnreadable = errors.New("plates: unreadable")

// Plate is a plate that was understood. Country is empty where none matched.
type Plate struct {
	Text    string
	Country string
	Region  string
	Class   string
}

// Register tries the formats it knows.
type Register struct {
	formats     []Format
	diplomatic  map[string]bool
	misreadings *strings.Replacer
}

// NewRegister makes a register of all formats.
func NewRegister() *Register {
	return &Register{
		formats:     formats,
		diplomatic:  map[string]bool{"CD": true, "CC": true, "CMD": true},
		misreadings: strings.NewReplacer("—", "-", "–", "-", "·", " ", "|", "I"),
	}
}

func (r *Register) clean(text string) (string, error) {
	text = strings.ToUpper(strings.TrimSpace(r.misreadings.Replace(text)))
	letters := 0
	for _, c := range text {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c):
			letters++
		case c != ' ' && c != '-':
			return "", ErrUnreadable
		}
	}
	if letters < 3 || letters > 10 {
		return "", ErrUnreadable
	}
	return text, nil
}

// Identify tells where a plate is from.
func (r *Register) Identify(text string) (Plate, error) {
	text, err := r.clean(text)
	if err != nil {
		return Plate{}, err
	}
	p := Plate{Text: text, Class: "private"}
	for _, f := range r.formats {
		region, ok := f.Match(text)
		if !ok {
			continue
		}
		p.Country, p.Region = f.Country, region
		switch {
		case r.diplomatic[region]:
			p.Class = "diplomatic"
		case f.IsElectric(text):
			p.Class = "electric"
		}
		break
	}
	return p, nil
}
