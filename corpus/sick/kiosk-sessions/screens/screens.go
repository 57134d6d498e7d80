// Package screens makes the pages of kiosks from templates in the binary.
package screens

import (
	"bytes"
	"embed"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
)

//go:embed *.html
var pages embed.FS

// Room is a room of the museum.
type Room struct {
	Number int
	Name   string
	Things []string
}

// Screens shows rooms.
type Screens struct {
	tmpl  *template.Template
	rooms map[int]Room
	log   *slog.Logger
}

// New makes the screens of so many rooms.
func New(rooms int, log *slog.Logger) (*Screens, error) {
	t, err := template.ParseFS(pages, "*.html")
	if err != nil {
		return nil, err
	}
	s := &Screens{tmpl: t, rooms: map[int]Room{}, log: log}
	for i := 1; i <= rooms; i++ {
		r := Room{Number: i, Name: "Room " + strconv.Itoa(i)}
		for k := range 4 + i%5 {
			r.Things = append(r.Things, "object "+strconv.Itoa(i*100+k))
		}
		s.rooms[i] = r
	}
	return s, nil
}

// Room answers with the page of a room.
func (s *Screens) Room(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("room"))
	room, ok := s.rooms[n]
	if err != nil || !ok {
		http.NotFound(w, r)
		return
	}
	var b bytes.Buffer
	if err := s.tmpl.ExecuteTemplate(&b, "room.html", room); err != nil {
		s.log.ErrorContext(r.Context(), "page", "room", n, "err", err)
		http.Error(w, "page", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = w.Write(b.Bytes())
}
