// Package disk writes and reads the files of a bundle: whole or not at all, for their
// owner only, within bounds, without following links out of the folder.
//
// It also reserves folders for results, so that two runs never share one. A full disk
// is an error that names the file, and destroys nothing that was there before.
package disk
