package socket

// Token identifies the owner of an event. The caller chooses Index, not negative.
// Generation distinguishes successive sockets with the same Index, because an event of a
// closed one may still be queued.
type Token struct{ Index, Generation int32 }

// Event is a descriptor's readiness. It is edge-triggered: there is no further event until
// a read or write returned ErrAgain, or transferred fewer bytes than requested. An error or
// hang-up counts as both, so that the next call on the descriptor returns the cause.
type Event struct {
	Token              Token // Index is negative for the poller's own descriptors
	Readable, Writable bool
	// Over means that the peer closed its side or the connection failed; there may be bytes
	// left to read. It never comes alone.
	Over bool
}
