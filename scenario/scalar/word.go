package scalar

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/scenario/mistake"
)

// ParseBool parses "true" or "false".
func ParseBool(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, mistake.Newf("", "%.40q is neither true nor false", text)
}

// ParseText refuses a text that is empty or blank, and returns others as they are.
func ParseText(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", mistake.Newf("", "it is empty")
	}
	return s, nil
}

// OneOf parses one of a few words.
func OneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if slices.Contains(words, s) {
			return s, nil
		}
		return "", mistake.Newf(mistake.DidYouMean(s, words), "%.40q is not known here", s)
	}
}
