// Package disk writes and reads the files of a bundle: whole or not at all, for their
// owner only, within bounds, without following links out of the folder.
//
// It reserves folders for results, too, so that two runs never share one. A full disk
// is an error that names the file, and takes nothing that was there before.
package disk
