// Package revision provides a version of the service: its commit (Describe), its files
// (Checkout), and the binary built from them (Build).
//
// A version is a git revision, or the work tree as it is, including uncommitted changes:
// the empty revision. A revision is checked out into a worktree in a folder of package
// scratch, so that the caller's own tree is not touched, and Remove removes it, whatever
// interrupts. Outside of git the work tree still builds, and a Commit is empty. An
// unknown revision is an error, and so is a build that fails.
package revision
