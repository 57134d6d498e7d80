package http2

import (
	"time"

	"github.com/redline-go/redline/load"
)

// Transport is the part of a load.Wire that does not depend on what the streams carry:
// it drives a session, and gathers the exchanges that end meanwhile. A wire embeds it and
// is the session's Handler.
type Transport struct {
	Session *Session

	// Of the current call of Receive or Shut.
	now   time.Duration
	ended []*load.Exchange
}

// State returns how many more streams may begin; see load.Wire.
func (t *Transport) State() (room int, over bool) { return t.Session.Room() }

// Receive hands the session what arrived; see load.Wire.
func (t *Transport) Receive(in []byte, now time.Duration, out []byte, ended []*load.Exchange) ([]byte, []*load.Exchange, error) {
	t.now, t.ended = now, ended
	out, err := t.Session.Receive(in, now, out)
	ended, t.ended = t.ended, nil
	return out, ended, err
}

// Shut fails the exchanges in progress; see load.Wire.
func (t *Transport) Shut(now time.Duration, ended []*load.Exchange) ([]*load.Exchange, error) {
	t.now, t.ended = now, ended
	err := t.Session.Shut()
	ended, t.ended = t.ended, nil
	return ended, err
}

// Now returns the run time of the call of Receive or Shut during which the handler is called.
func (t *Transport) Now() time.Duration { return t.now }

// End ends an exchange at Now. Only a handler may call it.
func (t *Transport) End(x *load.Exchange) {
	x.Done = t.now
	t.ended = append(t.ended, x)
}
