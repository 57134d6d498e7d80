// Package jsonlines reads files of one JSON object per line, such as feeders and logs.
// Its errors name the line and quote nothing of it, because logs hold secrets.
package jsonlines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// MaxLine bounds one line of JSON, in bytes.
const MaxLine = 1 << 20

// Text is a JSON value as a row holds it; false when there is none.
func Text(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	if raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s, true
		}
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return "", false
	}
	return b.String(), true
}

// Decode decodes a line that must be an object.
func Decode(line []byte, object any) error {
	if !utf8.Valid(line) {
		return errors.New("it is not UTF-8 text")
	}
	if len(line) == 0 || line[0] != '{' {
		return errors.New("it is not a JSON object")
	}
	if err := json.Unmarshal(line, object); err != nil {
		return errors.New("it is not a JSON object, or a key has a value of the wrong type")
	}
	return nil
}

// Keys returns the keys of an object that is known to be valid, in their
// order; at most one more than most.
func Keys(object []byte, most int) ([]string, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var names []string
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("the key %.40q appears twice", name)
		}
		if names = append(names, name); len(names) > most {
			return names, nil
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// Each calls line for each line that is not blank, without its end and
// with its number from 1. It reads limit bytes at most; an error names the line.
func Each(r io.Reader, limit int64, line func(number int, text []byte) error) error {
	limited := &io.LimitedReader{R: r, N: limit + 1}
	s := bufio.NewScanner(limited)
	s.Buffer(make([]byte, 64<<10), MaxLine)
	number := 0
	for s.Scan() {
		number++
		if limited.N <= 0 {
			return fmt.Errorf("the file is over %d bytes", limit)
		}
		text := s.Bytes()
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if err := line(number, text); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d is over %d bytes", number+1, MaxLine)
	}
	return s.Err()
}
