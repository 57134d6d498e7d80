//go:build !linux

package socket

var newTimer func(*Poller) error
