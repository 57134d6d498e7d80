package load

import (
	"context"
	"time"
)

// Dialer makes the clients of one protocol for one plan.
type Dialer interface {
	// Client returns connection number id, not yet open. Numbers start at 0
	// and seed what must differ between connections.
	Client(id int) Client
}

// Client sends one request at a time over a connection that it opens when it
// needs one: for the first request, and after the target closed the last one.
type Client interface {
	// Do sends x.Request, reads its answer to the end and fills in x. A nil
	// error is a success by the plan's measure. Errors wrap a *Failure, or are
	// classified by KindOf. ctx ends the opening of a connection; an exchange
	// under way is ended by Close.
	Do(ctx context.Context, x *Exchange) error
	// Close closes the connection for good. It may be called while Do runs,
	// which then returns an error at once.
	Close() error
}

// Exchange is one request and what became of it. Instants are run time.
type Exchange struct {
	Request int           // in: index in the plan's mix
	Timeout time.Duration // in: bound on opening, and from Sent to the end

	// Opening is how long the request waited for a connection to be opened,
	// before Sent; zero when one was open. Dials counts the connections opened.
	Opening time.Duration
	Dials   int
	// Open is the number of connections that the client holds afterwards.
	Open int
	// Sent is when the request's first byte was handed to the kernel; zero
	// when none was. FirstByte is zero when the answer never began.
	Sent, FirstByte, Done time.Duration
	Status                int
	BytesIn, BytesOut     int64
}
