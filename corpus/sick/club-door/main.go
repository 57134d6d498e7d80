// Command club-door shows a member's card. Clients send their password with
// every request, and every request verifies it.
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/gorilla/mux"
	"golang.org/x/crypto/bcrypt"
)

type members struct{ digests map[string][]byte }

func (m *members) known(user, password string) bool {
	return bcrypt.CompareHashAndPassword(m.digests[user], []byte(password)) == nil
}

func (m *members) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		if !ok || !m.known(user, password) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func main() {
	digest, err := bcrypt.GenerateFromPassword([]byte("honeycomb"), 6)
	if err != nil {
		log.Fatal(err)
	}
	m := &members{digests: map[string][]byte{"anna": digest}}
	r := mux.NewRouter()
	r.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	private := r.PathPrefix("/card").Subrouter()
	private.Use(m.guard)
	private.HandleFunc("", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "gold, since 2019") })
	log.Fatal(http.ListenAndServe("127.0.0.1:9706", r))
}
