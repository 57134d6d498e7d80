// Package env is part of redline's probe.
package env
