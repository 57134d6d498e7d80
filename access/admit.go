package access

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// Refusal is why a request is not served, and the status that reports it.
type Refusal struct {
	Status int // 401, 403 or 429
	why    string
}

func (r *Refusal) Error() string { return r.why }

type connKey struct{}

// ConnContext is for http.Server.ConnContext: it lets Admit know whose connection
// a request came over.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// Admit reports why a request is not served; nil if it is. The server must have
// ConnContext: without it no user is known.
func (l *Listener) Admit(r *http.Request) *Refusal {
	c, _ := r.Context().Value(connKey{}).(*conn)
	switch {
	case l.o.Token != "":
		if !shows(r, l.o.Token) {
			return &Refusal{http.StatusUnauthorized, "no valid token (Authorization: Bearer ...)"}
		}
	case c == nil || !c.known:
		return &Refusal{http.StatusForbidden, fmt.Sprintf("another user of this host, without a token (hint: set one for "+
			"redline in %s, and send it as Authorization: Bearer)", l.o.Variable)}
	}
	if l.limiter != nil && !l.limiter.Allow() {
		return &Refusal{http.StatusTooManyRequests, fmt.Sprintf("rate: more than %g requests per second", l.o.Rate)}
	}
	return nil
}

// shows reports whether a request holds the token.
func shows(r *http.Request, token string) bool {
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare([]byte(shown), []byte(token)) == 1
}

// Write answers a request over plain HTTP with its refusal. The connection ends
// with it where nothing else would be served over it.
func (r *Refusal) Write(w http.ResponseWriter) {
	switch r.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusForbidden:
		w.Header().Set("Connection", "close")
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, r.why, r.Status)
}
