// Package report turns a run's bundle into something to read: a text
// summary whose first lines answer "what stops it", the same in Markdown, the
// summary as JSON, the ladder of a demonstration, and one HTML page that opens
// offline.
//
// It reads only a record (and the values of its schema) and writes only to the
// io.Writer it is given; it opens nothing, asks no clock and decides nothing. A
// figure that is missing is left out or called "no data"; it never becomes a
// zero. Whether there is a terminal, how wide it is and whether colour is
// wanted (NO_COLOR) is the caller's business and comes in as options.
//
// Everything in a bundle may come from elsewhere: names in profiles, SQL, header
// names and error texts are untrusted. Control characters never reach a
// terminal, Markdown is escaped, and the page inserts text nodes only, under a
// content security policy that allows its own script and style by hash.
//
// Designs tried and rejected: html/template for the whole page (charts need a
// script anyway, and two renderers of one thing drift apart), a chart library
// of the size of ECharts (637 KB and 1.2 s for 3,000 windows where uPlot took
// 58 KB and 31 ms), and files next to the page (a report that is mailed loses
// them).
package report
