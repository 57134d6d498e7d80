package socket

// Token tells whose event it is. Index is the caller's and not negative;
// Generation tells apart the sockets that followed one another under it, since
// an event of a closed one may still be on its way.
type Token struct{ Index, Generation int32 }

// Event is what a descriptor is ready for. An error or hang-up counts as both,
// so that the next call on the descriptor tells what it is.
type Event struct {
	Token              Token // Index is negative for the poller's own
	Readable, Writable bool
}
