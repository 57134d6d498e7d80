package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
)

type (
	Document map[string]any
	Shelf    struct{ raw map[string][]byte }
	Option   func(*API)
	API      struct {
		shelf  *Shelf
		render func(raw []byte, tenant string) ([]byte, error)
	}
)

func WithRenderer(f func([]byte, string) ([]byte, error)) Option {
	return func(a *API) { a.render = f }
}

func NewAPI(s *Shelf, opts ...Option) *API {
	a := &API{shelf: s, render: stamped}
	for _, o := range opts {
		o(a)
	}
	return a
}

func NewShelf() *Shelf {
	s := &Shelf{raw: map[string][]byte{}}
	for b := range 12 {
		crates := make([]any, 0, 140)
		for c := range cap(crates) {
			crates = append(crates, Document{
				"sku": fmt.Sprintf("CR-%03d-%04d", b, c), "weight": 1.25 * float64(c), "fragile": c%3 == 0,
				"route": []string{"Rotterdam", "Basel", "Milano"}, "contents": Document{"name": "glassware, boxed",
					"count": c % 24, "origin": "CZ"},
			})
		}
		raw, _ := json.Marshal(Document{"bundle": b, "crates": crates})
		s.raw[fmt.Sprint(b)] = raw
	}
	return s
}

func clone(d Document) (Document, error) {
	b, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	var c Document
	return c, json.Unmarshal(b, &c)
}

// stamped adds the tenant to a copy of the document.
func stamped(raw []byte, tenant string) ([]byte, error) {
	var d Document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	c, err := clone(d)
	if err != nil {
		return nil, err
	}
	c["tenant"] = tenant
	return json.Marshal(c)
}

// spliced puts the tenant behind the opening brace.
func spliced(raw []byte, tenant string) ([]byte, error) {
	name, err := json.Marshal(tenant)
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{[]byte(`{"tenant":`), name, []byte(","), raw[1:]}, nil), nil
}

func (a *API) Bundle(c echo.Context) error {
	raw, ok := a.shelf.raw[c.Param("id")]
	if !ok {
		return echo.ErrNotFound
	}
	body, err := a.render(raw, c.QueryParam("tenant"))
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, body)
}

func main() {
	var opts []Option
	if os.Getenv("FIXED") == "1" {
		opts = append(opts, WithRenderer(spliced))
	}
	api := NewAPI(NewShelf(), opts...)
	e := echo.New()
	e.HideBanner = true
	e.GET("/health", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET("/bundles/:id", api.Bundle)
	e.Logger.Fatal(e.Start("127.0.0.1:9823"))
}
