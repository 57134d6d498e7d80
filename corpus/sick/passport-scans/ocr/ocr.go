// Package ocr reads documents with a recognition engine.
package ocr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Page is a photographed page. Lines is what the camera app recognised itself.
type Page struct {
	Image []byte   `json:"image" binding:"required"`
	Lines []string `json:"lines" binding:"required,len=2"`
}

// Zone is what the machine-readable zone says.
type Zone struct {
	Country string `json:"country"`
	Surname string `json:"surname"`
	Number  string `json:"number"`
	Valid   bool   `json:"valid"`
	Engine  string `json:"engine"`
}

var errShort = errors.New("ocr: a line of the zone has 44 characters")

// Engine is the recognition engine, over HTTP.
type Engine struct {
	url    string
	client *http.Client
}

// NewEngine makes a client of the engine at base.
func NewEngine(base string) *Engine {
	t := &http.Transport{MaxIdleConns: 128, MaxIdleConnsPerHost: 128, IdleConnTimeout: time.Minute}
	return &Engine{base + "/recognise", &http.Client{Transport: t, Timeout: 3 * time.Second}}
}

// Read reads a page.
func (e *Engine) Read(ctx context.Context, p Page) (Zone, error) {
	zone, err := parse(p.Lines)
	if err != nil {
		return zone, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(p.Image))
	if err != nil {
		return zone, err
	}
	req.Header.Set("Content-Type", "image/png")
	resp, err := e.client.Do(req)
	if err != nil {
		return zone, fmt.Errorf("engine: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return zone, fmt.Errorf("engine: %s", resp.Status)
	}
	var answer struct {
		State string `json:"state"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return zone, fmt.Errorf("engine: %w", err)
	}
	zone.Engine = answer.State
	return zone, nil
}

func parse(lines []string) (Zone, error) {
	if len(lines[0]) != 44 || len(lines[1]) != 44 {
		return Zone{}, errShort
	}
	surname, _, _ := strings.Cut(lines[0][5:], "<<")
	number := lines[1][:9]
	return Zone{
		Country: lines[0][2:5],
		Surname: strings.ReplaceAll(surname, "<", " "),
		Number:  strings.TrimRight(number, "<"),
		Valid:   digit(number) == lines[1][9],
	}, nil
}

// digit is the check digit of ICAO Doc 9303, part 3, section 4.9.
func digit(s string) byte {
	sum := 0
	for i := range len(s) {
		var v int
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			v = int(c - '0')
		case c >= 'A' && c <= 'Z':
			v = int(c-'A') + 10
		}
		sum += v * [3]int{7, 3, 1}[i%3]
	}
	return '0' + byte(sum%10)
}
