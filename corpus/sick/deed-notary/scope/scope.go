// Package scope gives each request the dependencies that it works with.
package scope

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/redline-go/redline/corpus/sick/deed-notary/registry"
)

// Providers make the dependencies.
type Providers struct {
	Log      *slog.Logger
	Registry func() (c *registry.Client, release func())
}

// Deps are the dependencies of one request.
type Deps struct {
	Log      *slog.Logger
	Registry *registry.Client
}

type key struct{}

// From returns the dependencies of a request.
func From(ctx context.Context) *Deps { return ctx.Value(key{}).(*Deps) }

// Middleware makes the dependencies of each request, and drops them after it.
func Middleware(p Providers) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, release := p.Registry()
			defer release()
			d := &Deps{Log: p.Log.With("path", r.URL.Path), Registry: c}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, d)))
		})
	}
}
