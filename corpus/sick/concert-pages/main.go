// Command concert-pages renders the pages of concerts.
package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/julienschmidt/httprouter"
)

//go:embed concert.html
var layout string

type Piece struct{ Composer, Title string }

type Concert struct {
	Slug, Hall string
	Pieces     []Piece
	Member     bool
}

type View interface {
	Page(c Concert) ([]byte, error)
}

type Renderer struct{ funcs template.FuncMap }

func (r *Renderer) Page(c Concert) ([]byte, error) {
	t, err := template.New("concert").Funcs(r.funcs).Parse(layout)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, c)
	return b.Bytes(), err
}

type Sheet struct{ t *template.Template }

func (s Sheet) Page(c Concert) ([]byte, error) {
	var b bytes.Buffer
	err := s.t.Execute(&b, c)
	return b.Bytes(), err
}

func main() {
	funcs := template.FuncMap{"upper": strings.ToUpper}
	var view View = &Renderer{funcs}
	if os.Getenv("FIXED") == "1" {
		view = Sheet{template.Must(template.New("concert").Funcs(funcs).Parse(layout))}
	}
	pieces := []Piece{{"Brahms", "Tragic Overture"}, {"Bartók", "Divertimento"}, {"Dvořák", "Symphony No. 8"}}
	r := httprouter.New()
	r.GET("/concerts/:slug", func(w http.ResponseWriter, req *http.Request, ps httprouter.Params) {
		page, err := view.Page(Concert{Slug: ps.ByName("slug"), Hall: "Great Hall", Pieces: pieces, Member: req.URL.Query().Has("member")})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9828", r))
}
