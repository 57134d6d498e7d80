package pseudofile

import "bytes"

// Number parses the decimal digits that text starts with, after blanks, and
// returns the rest. ok is false when there are none or they overflow.
func Number(text []byte) (n uint64, rest []byte, ok bool) {
	text = bytes.TrimLeft(text, " \t")
	i := 0
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		digit := uint64(text[i] - '0')
		if n > (1<<64-1-digit)/10 {
			return 0, nil, false
		}
		n = n*10 + digit
	}
	return n, text[i:], i > 0
}

// Keyed returns the number that follows key at the start of a line, as in
// "nr_throttled 12" or "read_bytes: 4096".
func Keyed(text []byte, key string) (n uint64, ok bool) {
	for line := range bytes.Lines(text) {
		rest, found := bytes.CutPrefix(line, []byte(key))
		if !found || len(rest) == 0 || (rest[0] != ' ' && rest[0] != ':' && rest[0] != '\t') {
			continue
		}
		n, _, ok = Number(bytes.TrimPrefix(rest, []byte(":")))
		return n, ok
	}
	return 0, false
}
