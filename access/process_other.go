//go:build !linux

package access

// OwnerOf returns a function that reports whether a process runs as a user.
// Here it never does, because it is also unknown who connects.
func OwnerOf(int) func(uid int) bool { return func(int) bool { return false } }
