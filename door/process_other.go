//go:build !linux

package door

// OwnerOf returns what reports whether a user is the one that a process runs as.
// Here nobody is: who connects is not known either.
func OwnerOf(int) func(uid int) bool { return func(int) bool { return false } }
