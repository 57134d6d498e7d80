//go:build !linux

package server

import "time"

// sameHost cannot read the processes' CPU on this system.
func sameHost(int, time.Time) (*CPU, string) {
	return nil, "that needs the /proc of Linux"
}
