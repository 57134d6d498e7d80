package export

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/access/accesstest"
	"github.com/redline-go/redline/scenario"
)

// scrapeAs visits the page as another user.
func scrapeAs(t *testing.T, uid int, page, token string) (int, string) {
	t.Helper()
	to, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	conn := accesstest.Dial(t, uid, "tcp", to.Host)
	_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
	q, err := http.NewRequest("GET", page, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+token)
	if err := q.Write(conn); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(conn), q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(text)
}

// TestOtherUsersSeeNoPage has a user of the host scrape the page of a run that is
// another's, then the run's own user.
func TestOtherUsersSeeNoPage(t *testing.T) {
	s := newStand(t, scenario.Export{Prometheus: "127.0.0.1:0"})
	s.drive(t)
	if status, text := scrapeAs(t, accesstest.Nobody, s.page, ""); status != http.StatusForbidden ||
		strings.Contains(text, "redline_load") || !strings.Contains(text, scenario.PrometheusTokenVariable) {
		t.Errorf("another user's scrape: status %d: %s", status, text)
	}
	if status, text := scrapeAs(t, os.Geteuid(), s.page, ""); status != http.StatusOK {
		t.Errorf("this user's scrape: status %d: %s", status, text)
	}
	s.Finish()
}

// TestOtherUsersShowThePagesToken has a scraper of another user, as Prometheus
// has one of its own.
func TestOtherUsersShowThePagesToken(t *testing.T) {
	s := newStand(t, scenario.Export{Prometheus: "127.0.0.1:0", PrometheusToken: "s3cret"})
	s.drive(t)
	for token, want := range map[string]int{"": 401, "s3cre": 401, "s3cret": 200} {
		if status, text := scrapeAs(t, accesstest.Nobody, s.page, token); status != want {
			t.Errorf("token %q: status %d: %s", token, status, text)
		}
	}
	s.Finish()
}

// TestThePageIsBoundInRate asks more often than any scraper does.
func TestThePageIsBoundInRate(t *testing.T) {
	s := newStand(t, scenario.Export{Prometheus: "127.0.0.1:0"})
	s.drive(t)
	for range 100 * scrapesPerSecond { // so many within a second, or some are over it
		r, err := http.Get(s.page)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
		if r.StatusCode == http.StatusTooManyRequests {
			return
		}
	}
	t.Errorf("%d scrapes in a row were all answered", 100*scrapesPerSecond)
}
