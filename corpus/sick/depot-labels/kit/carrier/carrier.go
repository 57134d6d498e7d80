// Package carrier knows how carriers number their parcels.
package carrier

import (
	"errors"
	"fmt"
	"strings"

	"depot.example/platform/kit/pace"
)

// ErrUnknown says that no carrier has that name.
var ErrUnknown = errors.New("unknown carrier")

// Option changes a directory.
type Option func(*Directory)

// Rate bounds how many numbers are given a second.
func Rate(n int) Option { return func(d *Directory) { d.pacer = pace.PerSecond(n) } }

// Directory is all carriers.
type Directory struct {
	pacer    *pace.Pacer
	prefixes map[string]string
}

// NewDirectory makes the directory of the depot.
func NewDirectory(opts ...Option) *Directory {
	d := &Directory{pacer: pace.PerSecond(350), prefixes: map[string]string{"nordpost": "NP", "velo": "VX", "riverfreight": "RF"}}
	for _, o := range opts {
		o(d)
	}
	return d
}

// Number makes the number of a parcel with its check digit.
func (d *Directory) Number(carrier string, serial uint64) (string, error) {
	prefix, ok := d.prefixes[strings.ToLower(carrier)]
	if !ok {
		return "", fmt.Errorf("%w: %q", ErrUnknown, carrier)
	}
	d.pacer.Pass()
	return fmt.Sprintf("%s%09d%d", prefix, serial, check(serial)), nil
}

// check is the digit of GS1: threes and ones from the right.
func check(serial uint64) uint64 {
	sum, w := uint64(0), uint64(3)
	for ; serial > 0; serial /= 10 {
		sum += serial % 10 * w
		w = 4 - w
	}
	return (10 - sum%10) % 10
}
