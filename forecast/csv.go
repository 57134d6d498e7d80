package forecast

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/scenario/file"
)

// Bounds of a CSV file.
const (
	mostBytes  = 256 << 20
	mostPoints = 2_000_000
)

// timeColumns and valueColumns are names of these columns in headers, in lower
// case.
var (
	timeColumns  = []string{"time", "timestamp", "date", "datetime", "ds", "ts", "measured", "_time"}
	valueColumns = []string{"value", "y", "rate", "qps", "rps", "requests", "_value"}
)

// ReadCSV reads a history of time and value. A header names the columns; without one
// they are the first two. Times are RFC 3339, "2006-01-02 15:04:05", "2006-01-02 15:04" or
// "2006-01-02" in UTC, or seconds or milliseconds since 1970; an empty value, NaN, null and
// NA are unknown. Fields are separated by commas, semicolons or tabs. value, if not empty,
// names the column of values. Errors name the line.
func ReadCSV(r io.Reader, value string) ([]Point, error) {
	limited := &io.LimitedReader{R: r, N: mostBytes + 1}
	buffered := file.Text(limited)
	rows := csv.NewReader(buffered)
	rows.Comma, rows.FieldsPerRecord, rows.ReuseRecord, rows.TrimLeadingSpace = separator(buffered), -1, true, true
	rows.Comment = '#'
	at, of := 0, 1
	var points []Point
	for first := true; ; first = false {
		row, err := rows.Read()
		if limited.N <= 0 {
			return nil, fmt.Errorf("the file is larger than %d MB", mostBytes>>20)
		}
		if errors.Is(err, io.EOF) {
			return points, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := rows.FieldPos(0)
		if first {
			named, a, v, err := columns(row, value)
			if err != nil {
				return nil, err
			}
			if named {
				at, of = a, v
				continue
			}
		}
		p, err := point(row, at, of)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if len(points) == mostPoints {
			return nil, fmt.Errorf("more than %d rows", mostPoints)
		}
		points = append(points, p)
	}
}

// separator returns the first of the three separators that the file's first line
// holds.
func separator(r *bufio.Reader) rune {
	head, _ := r.Peek(4096)
	line, _, _ := strings.Cut(string(head), "\n")
	for _, c := range ";\t" {
		if strings.ContainsRune(line, c) {
			return c
		}
	}
	return ','
}

// columns finds time and value in a header; named is false if the row is data.
func columns(row []string, value string) (named bool, at, of int, err error) {
	if _, err := instant(row[0]); err == nil {
		if value != "" {
			return false, 0, 0, fmt.Errorf("the file has no header that names %.60q", value)
		}
		return false, 0, 1, nil
	}
	names := make([]string, len(row))
	for i, name := range row {
		names[i] = strings.ToLower(strings.TrimSpace(name))
	}
	at = slices.IndexFunc(names, func(n string) bool { return slices.Contains(timeColumns, n) })
	if at < 0 {
		return false, 0, 0, fmt.Errorf("the first line, %.80q, is neither a header with a column of times (%s) nor a time and a value",
			strings.Join(row, ","), strings.Join(timeColumns[:4], ", "))
	}
	if value != "" {
		of = slices.Index(names, strings.ToLower(value))
	} else if of = slices.IndexFunc(names, func(n string) bool { return slices.Contains(valueColumns, n) }); of < 0 &&
		len(row) == 2 {
		of = 1 - at
	}
	if of < 0 {
		return false, 0, 0, fmt.Errorf("the header, %.80q, has no column of values (hint: --column NAME)",
			strings.Join(row, ","))
	}
	return true, at, of, nil
}

func point(row []string, at, of int) (p Point, err error) {
	if max(at, of) >= len(row) {
		return p, fmt.Errorf("%d fields; at least %d are needed", len(row), max(at, of)+1)
	}
	if p.Time, err = instant(row[at]); err != nil {
		return p, err
	}
	text := strings.TrimSpace(row[of])
	switch strings.ToLower(text) {
	case "", "nan", "null", "na", "-", "none":
		p.Value = math.NaN()
		return p, nil
	}
	if p.Value, err = strconv.ParseFloat(text, 64); err != nil || math.IsInf(p.Value, 0) {
		return p, fmt.Errorf("%.40q is not a number", text)
	}
	return p, nil
}

// The range of times that a history may hold.
var (
	earliest = time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

func instant(text string) (t time.Time, err error) {
	text = strings.TrimSpace(text)
	if v, err := strconv.ParseFloat(text, 64); err == nil && v > 0 && v < 1e14 {
		if v >= 1e11 { // milliseconds: as seconds it would be the year 5138
			v /= 1000
		}
		t = time.UnixMilli(int64(math.Round(v * 1000))).UTC()
	} else {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05",
			"2006-01-02T15:04:05",
			"2006-01-02 15:04", "2006-01-02"} {
			if t, err = time.Parse(layout, text); err == nil {
				break
			}
		}
		if err != nil {
			return t, fmt.Errorf("%.40q is not a time (hint: 2026-01-31 13:00, RFC 3339, or seconds since 1970)", text)
		}
	}
	if t.Before(earliest) || t.After(latest) {
		return t, fmt.Errorf("%.40q is not a time between 1970 and 2200", text)
	}
	return t.UTC(), nil
}
