package export

import (
	"net/http"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario"
)

// TestLastScrapeShowsAll has a scraper that comes often, while the run ends: it
// gets the windows that settled last.
func TestLastScrapeShowsAll(t *testing.T) {
	s := newStand(t, scenario.Export{Prometheus: "127.0.0.1:0"})
	s.drive(t)
	get(t, s.page, "") // two visits give the interval between them
	get(t, s.page, "")
	last := make(chan string)
	go func() {
		text := ""
		for {
			answer, err := http.Get(s.page)
			if err != nil {
				last <- text
				return
			}
			body := new(strings.Builder)
			if err := answer.Write(body); err != nil {
				t.Errorf("an answer was cut off: %v", err)
			}
			if answer.StatusCode == http.StatusOK { // it comes oftener than it may
				text = body.String()
			}
		}
	}()
	if warnings := s.Finish(); len(warnings) > 0 {
		t.Error(warnings)
	}
	if text := <-last; !strings.Contains(text, "redline_load_requests_total{") {
		t.Errorf("the last answer lacks the last windows:\n%s", text)
	}
}

// TestUnseenWindowsAreReported has a scraper that comes no more.
func TestUnseenWindowsAreReported(t *testing.T) {
	s := newStand(t, scenario.Export{Prometheus: "127.0.0.1:0"})
	s.drive(t)
	get(t, s.page, "")
	get(t, s.page, "")
	if warnings := s.Finish(); len(warnings) != 1 || !strings.Contains(warnings[0], "not scraped") {
		t.Errorf("%q", warnings)
	}
}
