// Package report turns a run's bundle into something to read: a text
// summary whose first lines answer "what stops it", the same in Markdown, the
// summary as JSON, and the ladder of a demonstration. The page for a browser is
// package web's, in the words of this one.
//
// It reads only a record (and the values of its schema) and writes only to the
// io.Writer it is given; it opens nothing, asks no clock and decides nothing. A
// figure that is missing is left out or called "no data"; it never becomes a
// zero. Whether there is a terminal, how wide it is and whether colour is
// wanted (NO_COLOR) is the caller's business and comes in as options.
//
// Everything in a bundle may come from elsewhere: names in profiles, SQL, header
// names and error texts are untrusted. Control characters never reach a
// terminal, and Markdown is escaped.
package report
