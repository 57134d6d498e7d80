// Package sampler is part of redline's probe.
package sampler
