//go:build !linux

package access

// OwnerOf returns a function that reports whether a process runs as a user.
// Here none is: who connects is unknown too.
func OwnerOf(int) func(uid int) bool { return func(int) bool { return false } }
