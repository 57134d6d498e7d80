package operations

import "strings"

// plain reports whether a text has nothing that may begin a constant, a quoted name or a comment.
func plain(text string) bool {
	return !strings.ContainsAny(text, "'\"`\\$#[") && !strings.Contains(text, "--") && !strings.Contains(text, "/*")
}

func indexOr(text, what string) int {
	if i := strings.Index(text, what); i >= 0 {
		return i
	}
	return len(text)
}

func afterOr(text, what string) int {
	if i := strings.Index(text, what); i >= 0 {
		return i + len(what)
	}
	return len(text)
}

func span(text string, in func(byte) bool) int {
	n := 0
	for n < len(text) && in(text[n]) {
		n++
	}
	return n
}

func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func digit(c byte) bool { return c >= '0' && c <= '9' }
func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
