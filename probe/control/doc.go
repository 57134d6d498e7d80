// Package control is part of redline's probe.
package control
