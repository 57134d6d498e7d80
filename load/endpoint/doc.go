// Package endpoint resolves where a URL of a plan leads: the address to connect to,
// the TLS that the connection speaks, and the request's target there. All
// protocols use it, so that a URL means the same to each of them.
//
// It opens no connection and looks no name up.
package endpoint
