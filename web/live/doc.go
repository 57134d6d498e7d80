// Package live serves the page of a run in progress: what the report will show, window by
// window, the findings so far, and two buttons: stop early, and mark this moment.
//
//	page.go     what the run reports: windows, latency, phases, its end
//	recent.go   the last windows as they were measured, where late points still land
//	history.go  the charts' lines over the last minutes
//	stream.go   events for the browsers, numbered, in a bounded ring
//	server.go   pages, the event stream, the buttons
//	assess.go   when the findings so far are assessed
//
// Whoever measures pays a lock and a copy, whatever the browsers do: a goroutine of the page's own
// makes one event per window, once for all viewers, and each viewer reads the ring at its own pace. One that
// does not read is dropped; one that was away gets what it missed, or everything anew where the ring
// no longer has it. Memory is bounded: the page holds the last ten minutes, the report all.
//
// Rejected: a queue per viewer (ten slow viewers then hold ten copies), WebSockets (what runs in one
// direction needs no second protocol, and proxies know HTTP), and drawing from the journal on disk
// (it is written twice a second, and a page at ten windows a second wants each at once).
package live
