package export

import (
	"bytes"
	"cmp"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// staleAfter is when a gauge that gets no values leaves the page: its source
// has ended, or has nothing to tell of.
const staleAfter = 10 * time.Second

// page is what Prometheus scrapes: the latest closed window of each series.
type page struct {
	listener net.Listener
	server   *http.Server
	token    string

	mu     sync.Mutex
	common []label
	newest time.Time
	latest map[*line]dated
}

// dated is a value and the end of its window.
type dated struct {
	value
	at time.Time
}

// listen opens the page's address. It serves nothing until serve.
func listen(address, token string) (*page, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("page for Prometheus: %w (hint: another address, or port 0 for any)", err)
	}
	p := &page{listener: l, token: token, latest: map[*line]dated{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", p.get)
	p.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
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
	if p.token != "" {
		shown, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(shown), []byte(p.token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
	}
	p.mu.Lock()
	values := make([]value, 0, len(p.latest))
	for _, d := range p.latest {
		values = append(values, d.value)
	}
	p.mu.Unlock()
	slices.SortFunc(values, byName)
	var text bytes.Buffer
	writeText(&text, values, p.common)
	w.Header().Set("Content-Type", textType)
	_, _ = w.Write(text.Bytes()) // a scraper that went away
}

// byName orders values by metric, then by labels.
func byName(a, b value) int {
	return cmp.Or(strings.Compare(a.metric, b.metric), slices.CompareFunc(a.labels, b.labels, func(a, b label) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.value, b.value))
	}))
}

func (p *page) close() string {
	if err := p.server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Sprintf("page for Prometheus: %v", err)
	}
	_ = p.listener.Close() // twice when it was served
	return ""
}
