package forecast

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/redline-go/redline/scenario/file"
)

const mostHolidays = 10_000

// ReadHolidays reads days, one per line, such as 2026-12-25, followed by anything
// after a blank, comma or semicolon; empty lines and those that begin with # are skipped. Errors name the line.
func ReadHolidays(r io.Reader) ([]time.Time, error) {
	var out []time.Time
	lines := bufio.NewScanner(file.Text(r))
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		if end := strings.IndexAny(text, " \t,;"); end >= 0 {
			text = text[:end]
		}
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %.40q is not a day (hint: 2026-12-25)", n, text)
		}
		if out = append(out, day); len(out) > mostHolidays {
			return nil, fmt.Errorf("more than %d holidays", mostHolidays)
		}
	}
	return out, lines.Err()
}
