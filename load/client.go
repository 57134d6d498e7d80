package load

import "context"

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
