//go:build !linux

package access

// OwnerOf returns a function that reports whether a process runs as a user.
// Here nobody is: who connects is not known either.
func OwnerOf(int) func(uid int) bool { return func(int) bool { return false } }
