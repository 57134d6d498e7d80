//go:build !linux

package server

import "time"

// sameHost knows no way to the processes' CPU here.
func sameHost(int, time.Time) (*CPU, string) {
	return nil, "it takes the /proc of Linux"
}
