//go:build !go1.25
// +build !go1.25

package control

import (
	"errors"
	"io"
	"time"
)

// flight stands for the flight recorder that Go has had since 1.25.
type flight struct{}

var errNoFlight = errors.New("the target's Go has no flight recorder (it came with Go 1.25)")

func (*flight) start(time.Duration, int64, int64) error        { return errNoFlight }
func (*flight) dump(io.Writer, int64) (since int64, err error) { return 0, errNoFlight }
func (*flight) stop()                                          {}
