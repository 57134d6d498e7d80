// Package auto starts redline's probe in the program that imports it.
package auto
