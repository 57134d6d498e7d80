package shelf

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/redline-go/redline/access"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/web"
)

// Server serves a directory of runs. Listen opens it, and Serve serves until its context ends.
type Server struct {
	runs     runs
	listener *access.Listener
	token    string // empty on loopback

	mu    sync.Mutex
	pages []made
}

// made is a page that was asked for lately.
type made struct {
	key   string
	bytes []byte
}

// keptPages of a few hundred KB each stay in memory.
const keptPages = 8

// Variable names the environment variable that sets the token of a shelf which others can
// reach; without it a new one is drawn.
const Variable = "REDLINE_SERVE_TOKEN"

// Listen opens address (host:port; port 0 takes a free one) for the runs below dir. An
// address that others can reach gets the token, or a new one where it is empty.
func Listen(ctx context.Context, dir, address, token string) (*Server, error) {
	s := &Server{runs: runs{dir: dir}}
	if _, err := s.runs.list(); err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w (hint: 127.0.0.1:0 takes a free port)", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		if s.token = token; token == "" {
			var random [18]byte
			rand.Read(random[:]) // never fails
			s.token = base64.RawURLEncoding.EncodeToString(random[:])
		}
	}
	s.listener, err = access.Listen(ctx, address, access.Options{Token: s.token, Variable: Variable, Rate: mostRequests})
	return s, err
}

// mostRequests a second are served.
const mostRequests = 200

// URL is where a browser finds the shelf, its token included.
func (s *Server) URL() string {
	u := url.URL{Scheme: "http", Host: s.listener.Addr().String(), Path: "/"}
	if s.token != "" {
		u.RawQuery = url.Values{"token": {s.token}}.Encode()
	}
	return u.String()
}

// Serve answers until ctx ends, and then closes the listener.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler:           s.Handler(),
		ConnContext:       access.ConnContext,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Handler is what Serve serves, for whoever listener admits.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.shelf)
	mux.HandleFunc("GET /runs.json", s.list)
	mux.HandleFunc("GET /run/{id}/{$}", s.run)
	mux.HandleFunc("GET /compare", s.compare)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		notice(
			w,
			http.StatusNotFound,
			"There is nothing here",
			"The shelf has a list, a page for each run, and one for two runs.",
		)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cache-Control", "no-store")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("X-Frame-Options", "DENY")
		if s.token == "" && !localName(r.Host) {
			notice(w, http.StatusForbidden, "Not this shelf's name", "It is served as 127.0.0.1 or localhost.")
			return
		}
		if s.welcome(w, r) {
			return
		}
		if refusal := s.listener.Admit(r); refusal != nil {
			refusal.Write(w)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// cookie holds the token after the URL has shown it once.
const cookie = "redline-shelf"

// welcome takes the token from the URL or the cookie to where access looks for it. The URL's goes into a
// cookie and out of sight; it reports that the browser was sent on.
func (s *Server) welcome(w http.ResponseWriter, r *http.Request) bool {
	if s.token == "" {
		return false
	}
	if shown := r.URL.Query().Get("token"); shown != "" {
		if subtle.ConstantTimeCompare([]byte(shown), []byte(s.token)) != 1 {
			return false
		}
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: shown, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		rest := r.URL.Query()
		rest.Del("token")
		http.Redirect(w, r, (&url.URL{Path: r.URL.Path, RawQuery: rest.Encode()}).String(), http.StatusSeeOther)
		return true
	}
	if c, err := r.Cookie(cookie); err == nil && r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer "+c.Value)
	}
	return false
}

// localName reports whether a Host header names this machine.
func localName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func (s *Server) shelf(w http.ResponseWriter, _ *http.Request) {
	all, err := s.runs.list()
	if err != nil {
		notice(w, http.StatusInternalServerError, "The directory cannot be listed", err.Error())
		return
	}
	var b bytes.Buffer
	if err := web.Shelf(&b, s.runs.dir, all); err != nil {
		notice(w, http.StatusInternalServerError, "The list cannot be shown", err.Error())
		return
	}
	answer(w, b.Bytes())
}

func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	all, err := s.runs.list()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(all) // a browser that went away needs no answer
}

func answer(w http.ResponseWriter, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(page)
}

func notice(w http.ResponseWriter, status int, title, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	web.Notice(w, title, text)
}

// opened reads a run with its summary. A run that was not judged has a summary with its state alone.
func (s *Server) opened(id string) (*record.Record, *record.Summary, error) {
	dir := s.runs.path(id)
	if dir == "" {
		return nil, nil, fs.ErrNotExist
	}
	rec, err := record.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	summary := &record.Summary{}
	switch err := rec.ReadJSON(record.SummaryFile, summary); {
	case errors.Is(err, fs.ErrNotExist):
		summary = &record.Summary{Schema: record.SummarySchema, Run: rec.Dir, State: rec.Run.State, Target: rec.Run.Target,
			Generator: record.Generator{Validity: record.ValidityUnknown},
			Warnings: []string{
				"This run has not been judged: redline diagnose " + rec.Dir + " does, and then this page has its figures and findings.",
			}}
	case err != nil:
		return nil, nil, err
	}
	return rec, summary, nil
}

func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	s.page(w, []string{r.PathValue("id")}, func(b *bytes.Buffer, recs []*record.Record, sums []*record.Summary) error {
		return web.Report(b, recs[0], sums[0])
	})
}

func (s *Server) compare(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.page(w, []string{q.Get("a"), q.Get("b")}, func(b *bytes.Buffer, recs []*record.Record, sums []*record.Summary) error {
		return web.Compare(b, recs[0], recs[1], sums[0], sums[1])
	})
}

// page answers with a page of runs, one that is kept if they have not changed since.
func (s *Server) page(w http.ResponseWriter, ids []string, write func(*bytes.Buffer, []*record.Record, []*record.Summary) error) {
	key := ""
	var recs []*record.Record
	var sums []*record.Summary
	for _, id := range ids {
		key += id + "\x00" + stampOf(s.runs.path(id)) + "\x00"
	}
	if page := s.kept(key); page != nil {
		answer(w, page)
		return
	}
	for _, id := range ids {
		rec, summary, err := s.opened(id)
		if errors.Is(err, fs.ErrNotExist) {
			notice(w, http.StatusNotFound, "No such run", "The shelf has no run "+id+". It may have been removed.")
			return
		}
		if err != nil {
			notice(w, http.StatusUnprocessableEntity, "This run cannot be read", err.Error())
			return
		}
		recs, sums = append(recs, rec), append(sums, summary)
	}
	var b bytes.Buffer
	if err := write(&b, recs, sums); err != nil {
		notice(w, http.StatusInternalServerError, "This page cannot be made", err.Error())
		return
	}
	s.keep(made{key, b.Bytes()})
	answer(w, b.Bytes())
}

func (s *Server) kept(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pages {
		if p.key == key {
			return p.bytes
		}
	}
	return nil
}

func (s *Server) keep(p made) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages = append(s.pages, p); len(s.pages) > keptPages {
		s.pages = s.pages[1:]
	}
}
