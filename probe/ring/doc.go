// Package ring is part of redline's probe.
package ring
