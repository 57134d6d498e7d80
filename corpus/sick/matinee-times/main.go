// Command matinee-times shows when cinemas play what.
package main

import (
	"context"
	"html/template"
	"net/http"
	"os"
	"time"

	"github.com/patrickmn/go-cache"
	"github.com/sirupsen/logrus"
)

var page = template.Must(template.New("day").Parse(`<!doctype html><title>{{.City}}</title>
<h1>{{.City}}</h1><p>as of {{.At.Format "15:04:05"}}</p>
<ul>{{range .Shows}}<li>{{.Title}} <time>{{.Start}}</time></li>{{end}}</ul>
`))

type source interface {
	Fetch(ctx context.Context, city string) (*Programme, error)
}

// Listings are the programmes of cities, at most ttl old.
type Listings struct {
	from  source
	cache *cache.Cache
	ttl   time.Duration
}

// Today returns the programme of a city.
func (l *Listings) Today(ctx context.Context, city string) (*Programme, error) {
	if p, ok := l.cache.Get(city); ok {
		return p.(*Programme), nil
	}
	p, err := l.from.Fetch(ctx, city)
	if err != nil {
		return nil, err
	}
	l.cache.Set(city, p, l.ttl)
	return p, nil
}

func main() {
	log := logrus.New()
	log.SetLevel(logrus.WarnLevel)
	const ttl = 250 * time.Millisecond // seats sell fast
	var from source = newBoxOffice(os.Getenv("BACKEND_URL"))
	if os.Getenv("FIXED") != "" {
		from = &once{source: from}
	}
	l := &Listings{from: from, cache: cache.New(ttl, time.Minute), ttl: ttl}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /cities/{city}", func(w http.ResponseWriter, r *http.Request) {
		p, err := l.Today(r.Context(), r.PathValue("city"))
		if err != nil {
			log.WithError(err).WithField("city", r.PathValue("city")).Warn("programme")
			http.Error(w, "box office", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := page.Execute(w, p); err != nil {
			log.WithError(err).Info("page")
		}
	})
	mux.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9213", mux))
}
