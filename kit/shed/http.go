package shed

import (
	"context"
	"errors"
	"net/http"
)

// Handler admits requests to Next by Limiter and answers the others with 503 at once.
// A request whose deadline passed counts as dropped; one whose client went away, or whose handler
// panicked, is ignored. Responses are not examined, and the ResponseWriter is passed on
// unchanged. So a handler that fails fast for much of its traffic makes the service look faster
// than it is; let it call Acquire itself, and Ignore.
//
// Put it around everything costly; health checks and metrics, which must always
// answer, either stay outside or are exempt.
type Handler struct {
	Limiter *Limiter
	Next    http.Handler
	// Exempt reports requests that pass without admission and are not counted:
	// health checks, and long-lived ones such as WebSockets. Nil exempts none.
	Exempt func(*http.Request) bool
	// Shed answers rejected requests. Nil writes 503 with "Retry-After: 1".
	Shed http.Handler
}

var _ http.Handler = Handler{}

// ServeHTTP serves one request.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.Exempt != nil && h.Exempt(r) {
		h.Next.ServeHTTP(w, r)
		return
	}
	permit, err := h.Limiter.Acquire()
	if err != nil {
		h.turnAway(w, r)
		return
	}
	defer permit.Ignore() // if Next panics
	h.Next.ServeHTTP(w, r)
	switch err := r.Context().Err(); {
	case err == nil:
		permit.Done()
	case errors.Is(err, context.DeadlineExceeded):
		permit.Drop()
	}
}

func (h Handler) turnAway(w http.ResponseWriter, r *http.Request) {
	if h.Shed != nil {
		h.Shed.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Retry-After", "1")
	http.Error(w, "overloaded, try again", http.StatusServiceUnavailable)
}
