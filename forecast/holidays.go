package forecast

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

const mostHolidays = 10_000

// ReadHolidays reads days, one per line, such as 2026-12-25, followed by anything;
// empty lines and those that begin with # are skipped. Errors name the line.
func ReadHolidays(r io.Reader) ([]time.Time, error) {
	var out []time.Time
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if text == "" || text[0] == '#' {
			continue
		}
		day, err := time.Parse(time.DateOnly, strings.TrimRight(text, ",;"))
		if err != nil {
			return nil, fmt.Errorf("line %d: %.40q is not a day (hint: 2026-12-25)", n, text)
		}
		if out = append(out, day); len(out) > mostHolidays {
			return nil, fmt.Errorf("more than %d holidays", mostHolidays)
		}
	}
	return out, lines.Err()
}
