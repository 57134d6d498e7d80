package load

import (
	"crypto/tls"
	"time"

	"github.com/redline-go/redline/scenario/feeder"
)

// Protocol makes the wires of one plan. It is immutable once made and shared by
// all event loops; its wires belong to one connection each.
type Protocol interface {
	// Hosts are the endpoints that the plan's requests go to. Their indices are
	// arguments of Host and Wire.
	Hosts() []Host
	// Host returns where a request of the mix goes.
	Host(request int) int
	// Wire returns the state machine of a connection to a host, not yet opened.
	Wire(host int) Wire
}

// Host is an endpoint that connections go to.
type Host struct {
	Address string      // host:port
	TLS     *tls.Config // nil for plaintext; NextProtos names the wire's protocols
}

// Wire is the protocol of one connection without the connection: requests in, bytes out;
// bytes in, answers out. It has no socket, no clock and no goroutine, so it can be tested
// and fuzzed alone, and one event loop drives thousands. Wires do not allocate in the
// steady state.
//
// The caller owns every slice that it passes: in is valid only during the call,
// out and ended are extended as append does and returned.
type Wire interface {
	// Open readies the wire for a new socket, whatever it was in the middle of,
	// and appends the bytes that go out before any request.
	Open(out []byte) []byte
	// State returns how many more requests Send takes now, and whether the wire is over:
	// it takes none until the next Open. A wire without room that is not over waits for
	// an answer, or for a handshake of its own.
	State() (room int, over bool)
	// Send appends the request of x and keeps x until it is ended or cancelled.
	// After an error (data that the protocol cannot carry) nothing was appended and x
	// has not begun.
	Send(x *Exchange, out []byte) ([]byte, error)
	// Receive takes the bytes that arrived at now in whatever pieces, appends the bytes that go
	// back (acknowledgements, the rest of a request's body), and adds the
	// exchanges that it completes to ended, with their FirstByte, Done, Status
	// and Err filled in. After an error the connection is unusable: exchanges in
	// progress that are not in ended failed with it.
	Receive(in []byte, now time.Duration, out []byte, ended []*Exchange) ([]byte, []*Exchange, error)
	// Shut is called when the peer sends no more. It adds the exchanges that this
	// completes; the error is that of the others, nil when there are none.
	Shut(now time.Duration, ended []*Exchange) ([]*Exchange, error)
	// Cancel gives x up and appends the notice to the peer. False means that the
	// connection cannot be kept.
	Cancel(x *Exchange, out []byte) ([]byte, bool)
}

// Follower is implemented by protocols with redirects.
type Follower interface {
	// Follow readies x, whose answer was a redirect, for being sent again, and returns
	// the host to which it goes. An error (a host that the plan does not name, too many
	// hops) ends x.
	Follow(x *Exchange) (host int, err error)
}

// Drainer is implemented by wires whose messages may have no answer
// (scenario.Request.NoReply). Such a message ends when the kernel has taken it, which a
// wire cannot see.
type Drainer interface {
	// Drained is called when the kernel has all that was appended to out so far.
	// It adds the exchanges that this completes, with Done set to now.
	Drained(now time.Duration, ended []*Exchange) []*Exchange
}

// Pusher is implemented by protocols in which a target may speak without being asked, and whose answers do not say what they
// answer.
type Pusher interface {
	// Pushed returns how many messages came while no request waited for an answer, after the first request of their
	// connection: any other answer may have been such a message, too.
	Pushed() int64
}

// StatusNamer is implemented by protocols whose status is not HTTP's.
type StatusNamer interface {
	// StatusName returns a status' name in the summary ("NOT_FOUND").
	StatusName(status int) string
}

// Exchange is one request and its outcome. Instants are run time. The
// loop reuses exchanges: a wire keeps none after it has ended.
type Exchange struct {
	Request int            // index in the plan's mix
	Slot    int            // unique among the exchanges in progress on the connection; below scenario.Load.Streams
	Data    *feeder.Cursor // rows for the request's templates; nil when the plan takes no data
	Trace   *Trace         // the trace of a sampled request; nil for most

	// Sent is when the request's first byte was handed to the kernel, set by
	// the loop; zero when none was. FirstByte is zero when the answer never began.
	Sent, FirstByte, Done time.Duration
	Status                int   // 0 when the answer had none
	BytesIn, BytesOut     int64 // as the wire counts them, framing included
	// Err is nil if the answer is a success by the plan's criteria, else a *failure.Error
	// or an error that failure.Of classifies.
	Err error
	// Failed has bit i set when check i of the request failed. A failed check
	// is not an error.
	Failed uint64

	// Redirect is the Location of an answer that redirects, if the plan follows redirects;
	// else empty. Hop is Follow's result for Send.
	Redirect []byte
	Hop      Hop
}

// Hop is one step of a followed redirect; zero for the plan's own request.
type Hop struct {
	Count  int    // redirects followed so far
	Host   int    // where it goes
	Origin []byte // the plan's own request as it was sent; nil when no data went into it
	Method string // may differ from the plan's: 303 turns POST into GET
	Target []byte // path and query
	NoBody bool
}
