// Package socket is the generator's own interface to the network: non-blocking
// sockets by their descriptors, and a poller that waits for many of them and for a
// point in time at once.
//
// It does not use package net, whose poller waits in whole milliseconds, wakes a
// goroutine per connection, and allocates per timer; together these cost a third of
// the generator's CPU. Calls that cannot block skip the scheduler's bookkeeping
// (RawSyscall); waiting does not.
//
// It knows nothing of requests and protocols. Descriptors that it returns
// belong to the caller.
package socket
