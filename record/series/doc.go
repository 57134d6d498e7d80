// Package series names the figures that a run records over time, and holds the
// catalogue of the names: each with its unit, its kind and its labels.
//
// It stores no values; package windows does.
package series
