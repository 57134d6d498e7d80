package statement

import "strings"

// Brief shortens a statement to one line of at most 80 characters.
func Brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return text
}
