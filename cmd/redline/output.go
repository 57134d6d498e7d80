package main

import (
	"io"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/web"
)

// printSummary prints a summary for people, or as JSON.
func printSummary(w io.Writer, rec *record.Record, s *record.Summary, asJSON, all bool) error {
	if asJSON {
		return report.JSON(w, s)
	}
	return report.Text(w, s, textOptions(w, rec, all, colour(w)))
}

// textOptions lays out a summary for w: the first findings, or all of everything.
func textOptions(w io.Writer, rec *record.Record, all, color bool) report.TextOptions {
	return report.TextOptions{Color: color, All: all, Width: width(w), Record: rec, More: "redline report " + rec.Dir + " --all"}
}

// writeHTML writes report.html into the bundle, whole or not at all.
func writeHTML(rec *record.Record, s *record.Summary) error {
	return disk.WriteFile(rec.Dir, "report.html", func(w io.Writer) error { return web.Report(w, rec, s) })
}
