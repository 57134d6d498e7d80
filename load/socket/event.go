package socket

// Token identifies the owner of an event. Index is the caller's and not negative;
// Generation distinguishes the sockets that followed one another under it, because
// an event of a closed one may still be on its way.
type Token struct{ Index, Generation int32 }

// Event is a descriptor's readiness. It comes once: a descriptor that is ready
// stays so without another event until a read or write has met its end, which is
// ErrAgain, or fewer bytes than there was room for. An error or hang-up counts as
// both, so that the next call on the descriptor returns the cause.
type Event struct {
	Token              Token // Index is negative for the poller's own
	Readable, Writable bool
	// Over says that the peer sends no more, or worse: bytes may still have to be
	// read first. It is no event of its own.
	Over bool
}
