// Command vendor-profile shows one page about a vendor. The page has six parts from six
// endpoints that know nothing of each other, and it asks for them one after another.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

// part is a piece of the page.
type part struct {
	Title string          `json:"title"`
	Doc   json.RawMessage `json:"doc"`
}

type loader func(ctx context.Context, vendor string) (part, error)

type page struct {
	Vendor string        `json:"vendor"`
	Parts  []part        `json:"parts"`
	Took   time.Duration `json:"took_ns"`
}

type upstream struct {
	root string
	do   func(*http.Request) (*http.Response, error)
}

func (u upstream) section(title, path string) loader {
	return func(ctx context.Context, vendor string) (part, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/%s/%s", u.root, path, vendor), nil)
		if err != nil {
			return part{}, err
		}
		resp, err := u.do(req)
		if err != nil {
			return part{}, err
		}
		defer resp.Body.Close()
		doc, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return part{title, doc}, err
	}
}

type composer []loader

func (c composer) compose(ctx context.Context, vendor string) (p page, err error) {
	begin := time.Now()
	p.Vendor = vendor
	for _, load := range c {
		section, err := load(ctx, vendor)
		if err != nil {
			return p, fmt.Errorf("vendor %s: %w", vendor, err)
		}
		p.Parts = append(p.Parts, section)
	}
	p.Took = time.Since(begin)
	return p, nil
}

func (c composer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, err := c.compose(r.Context(), r.PathValue("vendor"))
	if err != nil {
		log.Print(err)
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if err := json.NewEncoder(w).Encode(p); err != nil {
		log.Print(err)
	}
}

func main() {
	tr := http.DefaultTransport.(*http.Transport).Clone()
	tr.MaxIdleConnsPerHost = 100
	u := upstream{os.Getenv("BACKEND_URL"), (&http.Client{Transport: tr, Timeout: time.Second}).Do}
	mux := http.NewServeMux()
	mux.Handle("GET /vendors/{vendor}", composer{
		u.section("Address", "addresses"),
		u.section("Ratings", "ratings"),
		u.section("Contracts", "contracts"),
		u.section("Open invoices", "invoices"),
		u.section("Contacts", "people"),
		u.section("Certificates", "certificates"),
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "vendors") })
	log.Fatal(http.ListenAndServe("127.0.0.1:9859", mux))
}
