package callstack

import "github.com/redline-go/redline/record/code"

// Called returns the part of a stack that says what it waits for: what the user's innermost function called. A library that calls
// the user's code back, to repeat it or before a call of its own, does not wait meanwhile. But what it calls on through that code is
// still its own: a client's bytes through a connection or a driver of the user's, a logger's lines into a writer of the user's.
func (x *Index) Called(stack []code.Frame) []code.Frame {
	for at := x.Innermost(stack); at >= 0; {
		caller := at
		for caller < len(stack) && x.User(stack[caller]) {
			caller++
		}
		next := x.Innermost(stack[caller:])
		library := stack[caller:]
		if next >= 0 {
			library = library[:next]
		}
		if !through(x.Roles(stack[:at]), x.Roles(library)) {
			return stack[:at]
		}
		if at = next; next >= 0 {
			at += caller
		}
	}
	return stack
}

// clients are the roles of clients, whose calls one frame of theirs explains.
const clients = DBClient | DBPool | DBConnect | HTTPClient | HTTPConnect | RPCClient | ClientPool

// through reports whether a library that calls the user's code back, whose roles are outer, goes on through that code to what it calls.
func through(inner, outer Role) bool {
	return outer.Has(Logging) || inner.Has(DBClient) && outer.Has(DBClient) ||
		inner.Has(SocketIO|Dial) && !inner.Has(clients) && outer.Has(clients)
}
