// Package kit is the roof of tuned parts that a Go service may import, one package per noun below it. It is a module of
// its own with few dependencies. A part stands here only where no well-kept library does its work as well, and its page
// in docs/kit/ holds the measured figures and says when not to use it. The part to try first is always the plain one:
// redline's findings and the lab's experiments show when that is not enough.
package kit
