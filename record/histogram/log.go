package histogram

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// latency.hlog is a HdrHistogram interval log, version 1.3: a header, then one
// line per interval,
//
//	Tag=<step>.<kind>,<start s>,<length s>,<max ms>,<compressed histogram>
//
// with times since BaseTime, which is the run's epoch. Values are ns and the
// maximum is in ms, the ratio that log tools expect by default. Start and
// length have nine decimals where other writers print three, so that spans
// come back exactly.

// maxLogLine is the length of a line of the log, in bytes.
const maxLogLine = 1 << 20

// LogHeader returns the lines above the first interval.
func LogHeader(epoch time.Time) []byte {
	seconds := float64(epoch.UnixMilli()) / 1000
	return fmt.Appendf(nil, "#[Histogram log format version 1.3]\n"+
		"#[BaseTime: %.3f (seconds since epoch)]\n"+
		"#[StartTime: %.3f (seconds since epoch), %s]\n"+
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		seconds, seconds, epoch.UTC().Format(time.RFC3339))
}

// LogLine returns one interval's line, which is valid until e is used again.
// Characters that the format gives a meaning to are replaced in the step's
// name, as in labels.
func LogLine(e *Encoder, step string, kind Kind, s timebase.Span, c *Counts) ([]byte, error) {
	line := append(e.line[:0], "Tag="...)
	line = append(line, TagStep(step)...)
	line = append(append(append(line, '.'), kind...), ',')
	line = append(appendSeconds(line, s.From), ',')
	line = append(appendSeconds(line, s.Len()), ',')
	line = strconv.AppendFloat(line, float64(c.Max())/float64(time.Millisecond), 'f', 3, 64)
	line, err := e.append(append(line, ','), c)
	if err != nil {
		return nil, err
	}
	line = append(line, '\n')
	e.line = line
	if len(line) > maxLogLine {
		return nil, fmt.Errorf("an interval of %d bytes, at most %d are allowed", len(line), maxLogLine)
	}
	return line, nil
}

// TagStep makes a step's name fit for a tag: no commas, blanks or breaks.
func TagStep(step string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' {
			return '_'
		}
		return series.LabelRune(r)
	}, step)
}

// appendSeconds appends a duration in s with all of its ns.
func appendSeconds(b []byte, d time.Duration) []byte {
	if d < 0 {
		b, d = append(b, '-'), -d
	}
	b = append(strconv.AppendInt(b, int64(d/time.Second), 10), '.')
	fraction := d % time.Second
	for digit := time.Second / 10; digit > 0; digit /= 10 {
		b = append(b, '0'+byte(fraction/digit%10))
	}
	return b
}

// Interval is the span and kind of one line of the log.
type Interval struct {
	timebase.Span
	Step string
	Kind Kind
}

var errHlogLine = errors.New("no interval line")

// logReaders are kept because one is as large as the longest line, and a summary scans
// the log once for each kind.
var logReaders = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, maxLogLine) }}

// ScanLog calls yield with each interval of a log, in the file's order, with the offset
// of its payload and the payload, which is valid until yield returns. It holds one line
// in memory. A last line without its end is dropped: a killed writer leaves one.
func ScanLog(r io.Reader, yield func(i Interval, offset int64, payload []byte) error) error {
	br := logReaders.Get().(*bufio.Reader)
	defer logReaders.Put(br)
	br.Reset(r)
	tags := map[string]string{} // one copy of each tag
	for offset, number := int64(0), 1; ; number++ {
		line, err := br.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("line %d is over %d bytes", number, maxLogLine)
		case err != nil:
			return err
		}
		if line[0] != '#' && line[0] != '"' {
			i, payload, err := parseLogLine(line, tags)
			if err == nil {
				at := int64(cap(line) - cap(payload)) // both end with the reader's buffer
				err = yield(i, offset+at, payload)
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}
		offset += int64(len(line))
	}
}

// parseLogLine parses a line up to its payload.
func parseLogLine(line []byte, tags map[string]string) (i Interval, payload []byte, err error) {
	var fields [5][]byte
	line = bytes.TrimRight(line, "\r\n")
	rest := line
	for f := range 4 {
		var ok bool
		if fields[f], rest, ok = bytes.Cut(rest, []byte{','}); !ok {
			return Interval{}, nil, errHlogLine
		}
	}
	tag, ok := bytes.CutPrefix(fields[0], []byte("Tag="))
	if !ok || len(tag) > series.MaxSeriesText {
		return Interval{}, nil, errHlogLine
	}
	text, seen := tags[string(tag)]
	if !seen {
		if len(tags) >= series.MaxSeries {
			return Interval{}, nil, fmt.Errorf("more than %d tags", series.MaxSeries)
		}
		text = string(tag)
		tags[text] = text
	}
	dot := strings.LastIndexByte(text, '.')
	if dot < 0 {
		return Interval{}, nil, fmt.Errorf("tag %.80q is not step.kind", text)
	}
	start, err1 := parseSeconds(fields[1])
	length, err2 := parseSeconds(fields[2])
	if err := errors.Join(err1, err2); err != nil || length < 0 || start > math.MaxInt64-length {
		return Interval{}, nil, fmt.Errorf("start %.40q and length %.40q are no times in seconds", fields[1], fields[2])
	}
	return Interval{Span: timebase.Span{From: start, To: start + length}, Step: text[:dot], Kind: Kind(text[dot+1:])}, rest, nil
}

// parseSeconds is the inverse of appendSeconds. It reads fewer decimals too, and is
// exact where a float would not be.
func parseSeconds(b []byte) (time.Duration, error) {
	text, negative := strings.CutPrefix(string(b), "-")
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > 9 {
		return 0, errHlogLine
	}
	s, err := strconv.ParseUint(whole, 10, 33) // 2^33 s fit in a Duration
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
	if err != nil {
		return 0, err
	}
	d := time.Duration(s)*time.Second + time.Duration(ns)
	if negative {
		d = -d
	}
	return d, nil
}
