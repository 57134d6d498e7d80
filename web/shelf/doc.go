// Package shelf serves the saved runs of a directory to a browser: a list that can be searched,
// each run's page, and two runs beside each other.
//
// It reads bundles and never writes into them: a run that was not judged says so, and names the
// command that does. A directory that is no bundle is left out; one that is damaged, was
// killed or is of another version is listed with what is wrong. Every page is made from the bundle when it is
// asked for, so that bundles of older versions get the pages of this one; the last few are kept.
//
// Who may connect is package door's.
package shelf
