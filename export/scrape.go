package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redline-go/redline/access"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/scenario"
)

// staleAfter is when a gauge that gets no values leaves the page: its source
// has ended, or has nothing to report.
const staleAfter = 10 * time.Second

// Bounds of the page: a few scrapers, each a few times a second.
const (
	scrapers         = 32
	scrapesPerSecond = 20
)

// page is the page that Prometheus scrapes: the latest closed window of each series.
type page struct {
	listener *access.Listener
	server   *http.Server

	mu     sync.Mutex
	common []label
	newest time.Time
	latest map[*line]dated
	// The last two visits, zero before there were, and the end of the newest
	// window that was seen; final is closed after the next visit.
	before, last, seen time.Time
	final              chan struct{}
}

// dated is a value and the end of its window.
type dated struct {
	value
	at time.Time
}

// listen opens the page's address. It serves nothing until serve.
func listen(address, token string) (*page, error) {
	l, err := access.Listen(context.Background(), address, access.Options{
		Token: token, Variable: scenario.PrometheusTokenVariable, Connections: scrapers, Rate: scrapesPerSecond,
	})
	if errors.Is(err, access.ErrToken) {
		return nil, fmt.Errorf("page for Prometheus: %w (hint: set %s)", err, scenario.PrometheusTokenVariable)
	}
	if err != nil {
		return nil, fmt.Errorf("page for Prometheus: %w (hint: another address, or port 0 for any)", err)
	}
	p := &page{listener: l, latest: map[*line]dated{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", p.get)
	p.server = &http.Server{
		Handler: mux, ConnContext: access.ConnContext, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	return p, nil
}

func (p *page) begin(common []label) {
	p.common = common
	go func() { _ = p.server.Serve(p.listener) }() // it ends when the page closes
}

func (p *page) windows(all []window) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range all {
		p.newest = w.at
		for _, v := range w.values {
			p.latest[v.line] = dated{v, w.at}
		}
	}
	for l, d := range p.latest {
		if !l.counter && !l.histogram && p.newest.Sub(d.at) > staleAfter {
			delete(p.latest, l)
		}
	}
}

func (p *page) get(w http.ResponseWriter, r *http.Request) {
	if refusal := p.listener.Admit(r); refusal != nil {
		refusal.Write(w)
		return
	}
	values, visited := p.visit()
	defer visited()
	slices.SortFunc(values, byName)
	var text bytes.Buffer
	writeText(&text, values, p.common)
	w.Header().Set("Content-Type", textType)
	_, _ = w.Write(text.Bytes()) // a scraper that went away
}

// visit returns a scrape's answer, and a function to call once it was sent.
func (p *page) visit() (values []value, visited func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before, p.last, p.seen = p.last, time.Now(), p.newest
	values = make([]value, 0, len(p.latest))
	for _, d := range p.latest {
		values = append(values, d.value)
	}
	final := p.final
	p.final = nil
	return values, func() {
		if final != nil {
			close(final)
		}
	}
}

// The end of a run waits for a last scrape half an interval longer than scrapes
// were apart, within these bounds.
const leastPatience, mostPatience = time.Second, 5 * time.Second

// await gives a scraper that comes often the chance to see the last windows, and
// returns its missed windows in a sentence. It does not wait for rare visitors.
func (p *page) await() string {
	p.mu.Lock()
	every, final := p.last.Sub(p.before), make(chan struct{})
	if p.before.IsZero() || !p.newest.After(p.seen) {
		p.mu.Unlock()
		return "" // there is no scraper, or it has seen all
	}
	p.final = final
	p.mu.Unlock()
	if patience := max(leastPatience, every+every/2); patience <= mostPatience {
		select {
		case <-final:
			return ""
		case <-time.After(patience):
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("page for Prometheus: the last %s were not scraped before it closed (hint: remote write sends all)",
		notation.Time(p.newest.Sub(p.seen)))
}

// byName orders values by metric, then by labels.
func byName(a, b value) int {
	return cmp.Or(strings.Compare(a.metric, b.metric), slices.CompareFunc(a.labels, b.labels, func(a, b label) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.value, b.value))
	}))
}

// close ends the page once the last window was scraped, or was waited for.
func (p *page) close() string {
	missed := p.await()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = p.server.Shutdown(ctx) // lets the last answer go; who still reads then is cut off
	return cmp.Or(p.shut(), missed)
}

// shut ends the page at once.
func (p *page) shut() string {
	if err := p.server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Sprintf("page for Prometheus: %v", err)
	}
	_ = p.listener.Close() // twice when it was served
	return ""
}
