// Package respond turns what handlers return into answers.
package respond

import (
	"bytes"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strconv"
	"strings"
)

// Page is a list with what belongs to it.
type Page[T any] struct {
	Items []T            `json:"items"`
	Total int            `json:"total"`
	Meta  map[string]int `json:"meta,omitempty"`
}

// NotFound is an error that is answered 404.
type NotFound string

func (n NotFound) Error() string { return string(n) }

// Option changes how values become bodies.
type Option func(*encoder)

// Direct writes values as they are: they have no private fields.
func Direct(e *encoder) { e.direct = true }

type encoder struct{ direct bool }

// Handler makes a handler of f.
func Handler[T any](f func(*http.Request) (T, error), opts ...Option) http.Handler {
	var e encoder
	for _, o := range opts {
		o(&e)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := f(r)
		var missing NotFound
		switch {
		case errors.As(err, &missing):
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		case err != nil:
			http.Error(w, "internal", http.StatusInternalServerError)
			return
		}
		body, err := e.body(v)
		if err != nil {
			log.Println("respond:", err)
			http.Error(w, "internal", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})
}

func (e *encoder) body(v any) ([]byte, error) {
	if e.direct {
		return json.Marshal(v)
	}
	open, err := public(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.NewEncoder(&b).Encode(open)
	return b.Bytes(), err
}

// public returns v without fields that begin with an underscore, which are for the control room.
func public(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	prune(tree)
	return tree, nil
}

func prune(node any) {
	switch n := node.(type) {
	case map[string]any:
		for k, child := range n {
			if strings.HasPrefix(k, "_") {
				delete(n, k)
				continue
			}
			prune(child)
		}
	case []any:
		for _, child := range n {
			prune(child)
		}
	}
}
