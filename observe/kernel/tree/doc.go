// Package tree follows the target's processes, a root and its descendants, and
// finds the network namespace they are in.
//
// A process is held by an open descriptor of its directory in /proc: once it
// has ended, reading through the descriptor fails, also when its pid is given
// to another process. So a replaced target is never taken for the old one.
package tree
