package shelf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"sync"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/web"
	"github.com/redline-go/redline/web/door"
)

// Server serves a directory of runs. Listen opens it, and Serve serves until its context ends.
type Server struct {
	*door.Door
	runs runs

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
	var err error
	s.Door, err = door.Open(ctx, door.Options{Address: address, Name: "shelf", Token: token, Variable: Variable})
	return s, err
}

// Serve answers until ctx ends, and then closes the listener.
func (s *Server) Serve(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.shelf)
	mux.HandleFunc("GET /runs.json", s.list)
	mux.HandleFunc("GET /run/{id}/{$}", s.run)
	mux.HandleFunc("GET /compare", s.compare)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		door.Notice(
			w,
			http.StatusNotFound,
			"There is nothing here",
			"The shelf has a list, a page for each run, and one for two runs.",
		)
	})
	return s.Door.Serve(ctx, mux)
}

func (s *Server) shelf(w http.ResponseWriter, _ *http.Request) {
	all, err := s.runs.list()
	if err != nil {
		door.Notice(w, http.StatusInternalServerError, "The directory cannot be listed", err.Error())
		return
	}
	var b bytes.Buffer
	if err := web.Shelf(&b, s.runs.dir, all); err != nil {
		door.Notice(w, http.StatusInternalServerError, "The list cannot be shown", err.Error())
		return
	}
	door.Answer(w, b.Bytes())
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
		return web.Compare(b, web.Observed{Record: recs[0], Summary: sums[0]}, web.Observed{Record: recs[1], Summary: sums[1]})
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
		door.Answer(w, page)
		return
	}
	for _, id := range ids {
		rec, summary, err := s.opened(id)
		if errors.Is(err, fs.ErrNotExist) {
			door.Notice(w, http.StatusNotFound, "No such run", "The shelf has no run "+id+". It may have been removed.")
			return
		}
		if err != nil {
			door.Notice(w, http.StatusUnprocessableEntity, "This run cannot be read", err.Error())
			return
		}
		recs, sums = append(recs, rec), append(sums, summary)
	}
	var b bytes.Buffer
	if err := write(&b, recs, sums); err != nil {
		door.Notice(w, http.StatusInternalServerError, "This page cannot be made", err.Error())
		return
	}
	if !slices.ContainsFunc(recs, inProgress) {
		s.keep(made{key, b.Bytes()})
	}
	door.Answer(w, b.Bytes())
}

// inProgress reports whether a run is recorded still: its other files change without those of its stamp. A record does not
// distinguish such a run from one that was killed.
func inProgress(rec *record.Record) bool {
	h, err := headOf(rec.Dir)
	return err == nil && h.State == record.Running
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
