package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

type rule struct {
	weight  int
	pattern string
	matches func(text string) bool
}

// Rules score messages.
type Rules struct{ list []rule }

// Parse reads a rule a line: a weight and a pattern. Lines that begin with # are
// comments.
func Parse(text string) (*Rules, error) {
	var r Rules
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		weight, pattern, ok := strings.Cut(line, "  ")
		w, err := strconv.Atoi(weight)
		if !ok || err != nil {
			return nil, fmt.Errorf("rule in line %d: want a weight and a pattern", n)
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("rule in line %d: %w", n, err)
		}
		found := rule{weight: w, pattern: pattern, matches: search(pattern)}
		if os.Getenv("FIXED") != "" {
			found.matches = re.MatchString
		}
		r.list = append(r.list, found)
	}
	return &r, lines.Err()
}

func search(pattern string) func(string) bool {
	return func(text string) bool {
		ok, err := regexp.MatchString(pattern, text)
		return ok && err == nil
	}
}

// Score adds up the weights of the rules that match, and names them.
func (r *Rules) Score(text string) (score int, matched []string) {
	for i := range r.list {
		if r.list[i].matches(text) {
			score += r.list[i].weight
			matched = append(matched, r.list[i].pattern)
		}
	}
	return score, matched
}
