//go:build !linux

package ceiling

// ReadLimits knows no limits here: they are read from Linux's /proc/sys.
func ReadLimits() Limits { return Limits{} }
