// Package mask replaces parts of texts.
package mask

import (
	"regexp"
	"strings"
	"sync"
)

// rule is one kind of thing that is hidden.
type rule struct {
	name, pattern, with string
}

var common = []rule{
	{"card", `\b(?:\d{4}[ -]?){3}\d{4}\b`, "[card]"},
	{"mail", `[\w.+-]+@[\w-]+\.[\w.]+`, "[mail]"},
	{"url", `https?://[^\s]+`, "[link]"},
}

var rules = map[string][]rule{
	"en": {
		{"phone", `\b(?:\+44|0)\s?\d{3,4}\s?\d{5,6}\b`, "[phone]"},
		{"postcode", `\b[A-Z]{1,2}\d[A-Z\d]?\s*\d[A-Z]{2}\b`, "[postcode]"},
		{"rude", `(?i)\b(?:blast|bother|dash|drat|fiddlesticks|rats)(?:ed|ing|s)?\b`, "***"},
		{"street", `\b\d+\s[A-Z][a-z]+\s(?:Street|Road|Lane|Avenue)\b`, "[address]"},
	},
	"de": {
		{"phone", `\b(?:\+49|0)\s?\d{2,5}[\s/-]?\d{4,8}\b`, "[Telefon]"},
		{"iban", `\bDE\d{2}(?:\s?\d{4}){4}\s?\d{2}\b`, "[IBAN]"},
		{"rude", `(?i)\b(?:verflixt|mist|potzblitz|donnerwetter)(?:er|e|es)?\b`, "***"},
		{"street", `\b[A-ZÄÖÜ][a-zäöüß]+(?:straße|weg|allee|platz)\s\d+[a-z]?\b`, "[Adresse]"},
	},
}

// stage is a rule that is ready for use.
type stage struct {
	name string
	find *regexp.Regexp
	with string
}

// Masker hides things in texts of one language.
type Masker struct{ stages []stage }

// For returns the masker of a language; English is the default.
func For(lang string) *Masker {
	own, ok := rules[lang]
	if !ok {
		own = rules["en"]
	}
	m := &Masker{stages: make([]stage, 0, len(common)+len(own))}
	m.add(common)
	m.add(own)
	return m
}

func (m *Masker) add(list []rule) {
	for _, r := range list {
		m.stages = append(m.stages, stage{r.name, must(r.pattern), r.with})
	}
}

func must(pattern string) *regexp.Regexp {
	return regexp.MustCompile(strings.TrimSpace(pattern))
}

// Kept is For, with each language's masker made once.
func Kept() func(lang string) *Masker {
	var made sync.Map
	return func(lang string) *Masker {
		if m, ok := made.Load(lang); ok {
			return m.(*Masker)
		}
		m, _ := made.LoadOrStore(lang, For(lang))
		return m.(*Masker)
	}
}

// Mask returns text without what must be hidden, and how much of it there was.
func (m *Masker) Mask(text string) (string, map[string]int) {
	hits := map[string]int{}
	for _, s := range m.stages {
		text = s.find.ReplaceAllStringFunc(text, func(string) string {
			hits[s.name]++
			return s.with
		})
	}
	return text, hits
}
