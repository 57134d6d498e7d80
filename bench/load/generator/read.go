//go:build linux

package generator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Readers of tools' output. A missing figure is zero; a tally without
// requests is an error, so a change of a tool's format does not go unseen.

// checked refuses a tally of nothing.
func (t Tally) checked(name string) (Tally, error) {
	if t.Requests <= 0 {
		return t, fmt.Errorf("%s: no answered request in what it printed (%d errors)", name, t.Errors)
	}
	return t, nil
}

// match returns the first group of the pattern; empty when it does not match.
func match(text []byte, pattern string) string {
	m := regexp.MustCompile(pattern).FindSubmatch(text)
	if m == nil {
		return ""
	}
	return string(m[1])
}

func number(text []byte, pattern string) int64 {
	n, _ := strconv.ParseInt(match(text, pattern), 10, 64)
	return n
}

// sum adds up the first group of every match.
func sum(text []byte, pattern string) (total int64) {
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		n, _ := strconv.ParseInt(string(m[1]), 10, 64)
		total += n
	}
	return total
}

func seconds(text []byte, pattern string) time.Duration {
	s, _ := strconv.ParseFloat(match(text, pattern), 64)
	return fromSeconds(s)
}

func fromSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func repeat(pattern string, n int) string { return strings.Repeat(pattern, n) }

// afterText returns the text after a heading; nothing if there is no such heading.
func afterText(text []byte, heading string) []byte {
	_, after, _ := bytes.Cut(text, []byte(heading))
	return after
}

// ReadJSON decodes a file; errors name it.
func ReadJSON(file string, to any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
