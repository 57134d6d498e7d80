// Package pages renders pages from templates that are parsed once.
package pages

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"sync"
	"time"
)

//go:embed templates/*.html
var files embed.FS

var errBeach = errors.New("no such beach")

type course struct {
	Title  string
	Starts time.Time
	Places int
	Cents  int
}

type beach struct {
	Name    string
	Courses []course
}

// Site has the pages.
type Site struct {
	mu      sync.Mutex
	views   map[int]int
	beaches []beach
	tmpl    *template.Template
	zone    *time.Location
}

// New makes a site of n beaches.
func New(n int) *Site {
	s := &Site{views: map[int]int{}, zone: time.FixedZone("local", 3600)}
	s.tmpl = template.Must(template.New("site").Funcs(template.FuncMap{
		"day":  func(t time.Time) string { return t.In(s.zone).Format("Mon 2 Jan") },
		"euro": func(c int) string { return fmt.Sprintf("%d.%02d", c/100, c%100) },
	}).ParseFS(files, "templates/*.html"))
	start := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	for b := range n {
		be := beach{Name: fmt.Sprintf("Beach %d", b)}
		for c := range 6 {
			be.Courses = append(be.Courses, course{fmt.Sprintf("Course %d", c), start.AddDate(0, 0, b+c*7), 4 + c, 12900 + 500*c})
		}
		s.beaches = append(s.beaches, be)
	}
	return s
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Beach renders a beach.
func (s *Site) Beach(n int) ([]byte, error) {
	if n < 0 || n >= len(s.beaches) {
		return nil, errBeach
	}
	s.mu.Lock()
	s.views[n]++
	s.mu.Unlock()
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if err := s.tmpl.ExecuteTemplate(b, "beach.html", s.beaches[n]); err != nil {
		return nil, err
	}
	return bytes.Clone(b.Bytes()), nil
}
