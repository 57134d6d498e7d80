// Package mid is what requests pass on their way to a handler.
package mid

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Wrap is a layer around a handler.
type Wrap func(http.Handler) http.Handler

// Chain puts the first wrap outermost.
func Chain(h http.Handler, wraps ...Wrap) http.Handler {
	for i := len(wraps) - 1; i >= 0; i-- {
		h = wraps[i](h)
	}
	return h
}

type key int

const (
	idKey key = iota
	langKey
)

// ID is the number of the request of ctx.
func ID(ctx context.Context) string { s, _ := ctx.Value(idKey).(string); return s }

// Lang is the language that the caller of ctx reads.
func Lang(ctx context.Context) string { s, _ := ctx.Value(langKey).(string); return s }

// Numbered gives each request a number.
func Numbered() Wrap {
	var n atomic.Uint64
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			id := strconv.FormatUint(n.Add(1), 36)
			w.Header().Set("X-Request-Id", id)
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), idKey, id)))
		})
	}
}

// Language reads which of known the caller wants.
func Language(known ...string) Wrap {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			lang := known[0]
			if want := r.Header.Get("Accept-Language"); len(want) >= 2 {
				for _, k := range known {
					if want[:2] == k {
						lang = k
					}
				}
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), langKey, lang)))
		})
	}
}

// Within bounds how long a request is worked on.
func Within(d time.Duration) Wrap {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), d)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// Recovered answers 500 where a handler panics.
func Recovered(log *slog.Logger) Wrap {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				if v := recover(); v != nil {
					log.Error("panic", "id", ID(r.Context()), "value", v)
					w.WriteHeader(http.StatusInternalServerError)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}
