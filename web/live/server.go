package live

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/web"
	"github.com/redline-go/redline/web/door"
)

// The stream to a browser.
const (
	heartbeat  = 2 * time.Second // without news, so that the page knows that the server is there
	patience   = 5 * time.Second // for a browser that does not read
	padding    = 2 << 10         // some proxies hold the first bytes back
	mostAction = 2 << 10         // bytes of what a button sends
)

// routes are the page's addresses.
func (p *Page) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.index)
	mux.HandleFunc("GET /events", p.events)
	mux.HandleFunc("GET /report.json", p.report)
	mux.HandleFunc("GET /result", p.result)
	mux.HandleFunc("POST /stop", p.button(p.stop))
	mux.HandleFunc("POST /mark", p.button(p.mark))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		door.Notice(w, http.StatusNotFound, "There is nothing here", "The page of the run is at the root of this address.")
	})
	return mux
}

func (p *Page) index(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	if err := web.Live(&b, p.Title, door.Secret(), p.secret); err != nil {
		door.Notice(w, http.StatusInternalServerError, "The page cannot be shown", err.Error())
		return
	}
	door.Answer(w, b.Bytes())
}

// events streams what happens, from the event on that the browser saw last. With "once" it hands out what there
// is and ends: a page asks so again and again where a proxy holds a stream back, or a browser has too many.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	name, once := q.Get("viewer"), q.Has("once")
	if !p.viewers.enter(name, p.now()) {
		http.Error(w, "too many viewers", http.StatusServiceUnavailable)
		return
	}
	defer p.viewers.update(name, func(v *viewer) { v.connections-- })
	head := w.Header()
	head.Set("Content-Type", "text/event-stream; charset=utf-8")
	head.Set("Cache-Control", "no-store, no-transform")
	head.Set("X-Accel-Buffering", "no") // nginx holds back what it does not know to be a stream
	if !once {
		io.WriteString(w, ":"+strings.Repeat(" ", padding)+"\nretry: 1000\n\n")
	}
	after := p.stream.after(cmp.Or(r.Header.Get("Last-Event-ID"), q.Get("last")))
	control := http.NewResponseController(w)
	timer := time.NewTimer(heartbeat)
	defer timer.Stop()
	for {
		events, more, known, ended := p.stream.since(after)
		if !known {
			events = []event{p.snapshot()}
		}
		if err := p.write(control, w, events); err != nil {
			p.left(r, err)
			return
		}
		if n := len(events); n > 0 {
			after = events[n-1].id
			p.viewers.update(name, func(v *viewer) { v.seen = after })
		}
		if once || ended && known && after == p.stream.newest() {
			return
		}
		timer.Reset(heartbeat)
		select {
		case <-more:
		case <-r.Context().Done():
			return
		case <-timer.C:
			if err := p.write(control, w, []event{{wire: []byte("event: beat\ndata: 0\n\n")}}); err != nil {
				p.left(r, err)
				return
			}
		}
	}
}

// write sends events to a browser, which has a bounded time to read them.
func (p *Page) write(control *http.ResponseController, w io.Writer, events []event) error {
	if err := control.SetWriteDeadline(time.Now().Add(p.patience)); err != nil {
		return err
	}
	for _, e := range events {
		if _, err := w.Write(e.wire); err != nil {
			return err
		}
	}
	return control.Flush()
}

// left notes a viewer that was dropped; one that went away by itself is no news.
func (p *Page) left(r *http.Request, err error) {
	var late interface{ Timeout() bool }
	if !errors.As(err, &late) || !late.Timeout() {
		return
	}
	p.viewers.mu.Lock()
	p.viewers.dropped++
	first := p.viewers.dropped == 1
	p.viewers.mu.Unlock()
	if first && p.Note != nil {
		p.Note("a viewer of the live page (" + r.RemoteAddr + ") did not read for " + p.patience.String() + " and was dropped")
	}
}

// report hands out the data of the finished report.
func (p *Page) report(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	end := p.state.end
	p.mu.Unlock()
	if end == nil || !end.Report {
		http.Error(w, "there is no report yet", http.StatusNotFound)
		return
	}
	data, err := end.data()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Length", strconv.Itoa(len(data))) // whole once it is written: the server closes soon
	control := http.NewResponseController(w)
	if err := p.write(control, w, []event{{wire: data}}); err == nil {
		p.viewers.update(r.URL.Query().Get("viewer"), func(v *viewer) { v.served = true })
	}
}

// result hands out the page that a verb ends with.
func (p *Page) result(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	end := p.state.end
	p.mu.Unlock()
	if end == nil || !end.Result {
		door.Notice(w, http.StatusNotFound, "There is no result yet", "The page at the root of this address shows how far it is.")
		return
	}
	page, _ := end.data()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	if err := p.write(http.NewResponseController(w), w, []event{{wire: page}}); err == nil {
		p.viewers.update(r.URL.Query().Get("viewer"), func(v *viewer) { v.served = true })
	}
}

// zipped returns a value as gzipped JSON.
func zipped(v any) ([]byte, error) {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	if err := json.NewEncoder(zip).Encode(v); err != nil {
		return nil, err
	}
	err := zip.Close()
	return b.Bytes(), err
}

// secretHeader carries what only this server's own page knows; a form of another page cannot send it.
const secretHeader = "X-Redline-Secret"

// button lets what the page itself sends press a button.
func (p *Page) button(press func(text string) (status int, answer string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(secretHeader)), []byte(p.secret)) != 1 {
			http.Error(w, "this did not come from the page of this run", http.StatusForbidden)
			return
		}
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostAction))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		status, answer := press(string(text))
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}
}

// stop ends the load and keeps what was measured.
func (p *Page) stop(string) (int, string) {
	p.mu.Lock()
	over := p.state.end != nil
	p.mu.Unlock()
	if over {
		return http.StatusConflict, "the run has ended"
	}
	p.Stop()
	return http.StatusOK, ""
}

// mark records the present moment.
func (p *Page) mark(text string) (int, string) {
	p.mu.Lock()
	r, over := p.state.recording, p.state.end != nil
	p.mu.Unlock()
	if r == nil || over {
		return http.StatusConflict, "nothing is recorded now"
	}
	m, err := r.Mark(notation.Clean(strings.ToValidUTF8(text, "")))
	if err != nil {
		return http.StatusConflict, "the moment was not recorded: " + notation.Clean(err.Error())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.marked(m)
	return http.StatusOK, ""
}

func (s *state) marked(m record.Mark) {
	s.spans = append(s.spans, span{Kind: "mark", From: m.At.Seconds(), To: m.At.Seconds(), Text: notation.Clean(m.Text)})
	s.newSpans = true
}

// Close hands out the end to whoever watches, for half a minute at most, and closes the address. It may be
// called twice.
func (p *Page) Close() {
	p.mu.Lock()
	if p.closing {
		p.mu.Unlock()
		return
	}
	p.closing = true
	end := p.state.end
	p.mu.Unlock()
	if end != nil && p.viewers.any(p.now()) {
		within, enough := context.WithTimeout(context.Background(), p.lingers)
		p.viewers.await(within, end.event, end.data != nil, p.now)
		enough()
	}
	p.stream.end()
	p.cancel()
	p.running.Wait()
}

// lingers is how long the process waits at most for browsers to fetch the end of the run. They do so at once,
// except on a machine that is busy with the load.
const lingers = 30 * time.Second
