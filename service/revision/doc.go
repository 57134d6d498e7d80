// Package revision gives a version of the service: its commit (Describe), its
// files (Checkout), and the binary that they build to (Build).
//
// A version is a git revision, or the work tree as it is, changes that no commit holds
// included: the empty revision. A revision is checked out into a worktree in a folder of
// package scratch, so that the caller's own tree is not touched, and taken away again by
// Remove, whatever interrupts. Outside of git the work tree still builds, and a Commit is
// empty: a lack in git is no error there, an unknown revision is, and so is a
// build that fails.
package revision
