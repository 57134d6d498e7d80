package load

import (
	"strings"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/scenario"
)

// Bounds of how often a request goes out again: one that the target declared unprocessed
// (failure.Error.Unseen), and one whose connection was closed between two requests, where
// that is only likely.
const (
	mostUnseen = 3
	mostClosed = 1
)

// Repeater is implemented by protocols with idempotent requests.
type Repeater interface {
	// Repeatable reports whether x, as last sent, is such a request.
	Repeatable(x *Exchange) bool
}

// Idempotent reports whether an HTTP request may be sent twice: because of its method (RFC
// 9110, section 9.2.2) or its Idempotency-Key header, as in net/http.
func Idempotent(method string, headers map[string]scenario.Secret) bool {
	switch method {
	case "", "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE":
		return true
	}
	for name := range headers {
		if strings.EqualFold(name, "Idempotency-Key") || strings.EqualFold(name, "X-Idempotency-Key") {
			return true
		}
	}
	return false
}

// hop is a request that goes out again: it follows a redirect, or was not seen.
type hop struct {
	u    *lane
	host int
}

// unseen reports whether a request that its wire ended may go out again: the target
// refused the connection, not the request.
func (u *lane) unseen() bool {
	f, ok := u.x.Err.(*failure.Error)
	return ok && f.Unseen && u.resent < mostUnseen
}

// lost reports whether a request may go out again after its connection failed with err.
// Servers close idle connections, and a client cannot see that one is about to be
// closed: a request over a connection that had been idle, without any byte of an answer,
// was most likely never read (RFC 9112, section 9.3.1). It goes out once more if reading
// it twice does no harm.
func (l *loop) lost(u *lane, err error) bool {
	if !u.reused || u.resent >= mostClosed || u.x.FirstByte > 0 || l.run.repeater == nil {
		return false
	}
	if kind := failure.Of(err); kind != failure.EOF && kind != failure.Reset {
		return false
	}
	return l.run.repeater.Repeatable(&u.x)
}

// resend sends a lane's request again, over a new connection to the same host. Its time
// goes on.
func (l *loop) resend(u *lane, k *link) {
	u.resent++
	l.counted.Resent++
	// Sent stays: the request was handed to the kernel then, and its service time includes the
	// cost of the target's closing.
	u.x.Err, u.x.Status, u.x.FirstByte, u.x.Done = nil, 0, 0, 0
	k.parted = true
	l.leave(u, k.host)
}

// leave takes a lane off its link, for follow to send its request to a host. The link may end
// before that, and such a request is no longer its own.
func (l *loop) leave(u *lane, host int) {
	u.state, u.link = laneAgain, nil
	l.hops = append(l.hops, hop{u, host})
}

// follow sends the requests that go out again.
func (l *loop) follow() {
	for len(l.hops) > 0 {
		h := l.hops[len(l.hops)-1]
		l.hops = l.hops[:len(l.hops)-1]
		l.route(h.u, h.u.group.links[h.host])
	}
}
