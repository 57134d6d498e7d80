package register

import "math/rand/v2"

var (
	heads = []string{"mac", "o", "fitz", "van", "de", "al", "ber", "hol", "wins", "thorn", "ash", "brad",
		"cal", "dun", "elles", "far", "gal", "har", "kirk", "lang", "mal", "nor", "oak", "pem", "quin", "rath",
		"stan", "tal", "ull", "whit"}
	middles = []string{"", "er", "en", "ing", "le", "s", "ber", "ter", "mor", "ley", "wor", "din"}
	tails   = []string{"ton", "ham", "ley", "ford", "son", "worth", "by", "field", "wick",
		"stock", "man", "gate", "shaw", "croft"}
)

// Spellings makes n different names with their folios, always the same ones.
func Spellings(n int) []Entry {
	rnd := rand.New(rand.NewPCG(1598, 1837))
	seen := make(map[string]bool, n)
	entries := make([]Entry, 0, n)
	for len(entries) < n {
		name := heads[rnd.IntN(len(heads))] + middles[rnd.IntN(len(middles))] + tails[rnd.IntN(len(tails))]
		if rnd.IntN(3) == 0 {
			at := 1 + rnd.IntN(len(name)-1)
			name = name[:at] + string(rune('a'+rnd.IntN(26))) + name[at:]
		}
		if rnd.IntN(3) == 0 {
			at := 1 + rnd.IntN(len(name)-2)
			name = name[:at] + name[at+1:]
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		e := Entry{Name: name}
		for range 1 + rnd.IntN(5) {
			e.Folios = append(e.Folios, 1+rnd.IntN(2200))
		}
		entries = append(entries, e)
	}
	return entries
}
