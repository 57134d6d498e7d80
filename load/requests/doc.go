// Package requests is what the protocols share when they compile a plan's requests: naming
// the request in an error, the hosts that requests go to, and the rules of header fields.
//
// It renders nothing and knows no wire format.
package requests
