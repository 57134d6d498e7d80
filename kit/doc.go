// Package kit is the parent of tuned parts that a Go service may import, one package per noun below it. It is
// a separate module with few dependencies. A part is here only if no well-kept library does its work as well;
// its page in docs/kit/ has the measured figures and says when not to use it. Always try the plain form
// first: redline's findings and the lab's experiments show when that is not enough.
package kit
