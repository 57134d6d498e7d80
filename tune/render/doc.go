// Package render writes the result of a tune: text with curves and a surface for a terminal,
// and Markdown for a change's description. It computes nothing: all that it writes is in the
// tune.Result.
package render
