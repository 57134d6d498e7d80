// Package web is redline's front in a browser: one page of TypeScript (page/) for the report file,
// two runs beside each other, decisions, the lab, and the shelf of saved runs, and the Go that makes their data.
//
//	page.go              a page: markup, content security policy, data inlined
//	report.go            the page of a run
//	compare.go           the page of two runs
//	decision.go          the page of ab and gate
//	lab.go               claims and ladders
//	serve.go             the pages that only a server has
//	door/                who may see what is served
//	shelf/               saved runs, served
//	live/                a run in progress, served
//	rundata/             what the page knows of a run
//	flame/               call stacks as flame graphs
//	page/                the sources of the script, and what is built of them
//
// Everything in a bundle may come from elsewhere: names in profiles, SQL, header
// names and error texts are untrusted. The page inserts text nodes only, under a
// content security policy that allows its own script and style by hash.
//
// Designs tried and rejected: html/template for the whole page (charts need a
// script anyway, and two renderers of one thing drift apart), a chart library
// of the size of ECharts (637 KB and 1.2 s for 3,000 windows where uPlot took
// 58 KB and 31 ms), and files next to the page (a report that is mailed loses
// them).
package web
