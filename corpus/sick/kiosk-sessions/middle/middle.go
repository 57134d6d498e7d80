// Package middle is what requests pass before a screen is made.
package middle

import (
	"context"
	"net/http"
	"strings"

	"github.com/redline-go/redline/corpus/sick/kiosk-sessions/session"
)

type kioskKey struct{}

// Kiosk is the kiosk that asked.
func Kiosk(ctx context.Context) string {
	k, _ := ctx.Value(kioskKey{}).(string)
	return k
}

// Identify finds which kiosk asks.
func Identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k := strings.TrimSpace(r.Header.Get("X-Kiosk"))
		if k == "" {
			http.Error(w, "kiosk", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), kioskKey{}, k)))
	})
}

type sessionKey struct{}

// Session is the id of the session of a request.
func Session(ctx context.Context) string {
	s, _ := ctx.Value(sessionKey{}).(string)
	return s
}

// Visited gives each request a session, a new one if it has none that lives.
func Visited(store session.Store) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var id string
			if c, err := r.Cookie("visit"); err == nil {
				if _, ok := store.Visit(c.Value, 0); ok {
					id = c.Value
				}
			}
			if id == "" {
				id = store.Start(Kiosk(r.Context())).ID
				http.SetCookie(w, &http.Cookie{Name: "visit", Value: id, HttpOnly: true, SameSite: http.SameSiteStrictMode, Path: "/"})
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, id)))
		})
	}
}
