// Package pseudofile reads the small files that the kernel makes up when they
// are read, those of /proc and of control groups, and parses the numbers in
// them, without allocating once its buffer has grown.
//
// It refuses to interpret files: their parsers are in the sources that use
// the figures.
package pseudofile
