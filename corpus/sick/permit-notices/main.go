// Command permit-notices shows building permits as pages.
package main

import (
	"embed"
	"html/template"
	"log"
	"net/http"
	"strconv"
	"time"
)

//go:embed pages
var pages embed.FS

type permit struct {
	ID        int
	Applicant string
	Street    string
	Works     []work
	Issued    time.Time
}

type work struct {
	Name  string
	Days  int
	Noisy bool
}

func find(id int) permit {
	p := permit{ID: id, Applicant: "Applicant & Sons " + strconv.Itoa(id), Street: strconv.Itoa(id%90) +
		" Quay Street", Issued: time.Unix(int64(1_700_000_000+id), 0).UTC()}
	for i := range 6 {
		p.Works = append(p.Works, work{Name: "stage <" + strconv.Itoa(i) + ">", Days: id%7 + i, Noisy: i%2 == 0})
	}
	return p
}

func render(w http.ResponseWriter, name string, data any) error {
	day := func(t time.Time) string { return t.Format("2 January 2006") }
	t, err := template.New("layout.html").Funcs(template.FuncMap{"day": day}).ParseFS(pages, "pages/layout.html", "pages/"+name)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return t.Execute(w, data)
}

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /permits/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		if err := render(w, "permit.html", find(id)); err != nil {
			http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9953", mux))
}
