package cli

import (
	"io"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/web"
)

// PrintSummary prints a summary for people, or as JSON.
func PrintSummary(w io.Writer, rec *record.Record, s *record.Summary, asJSON, all bool) error {
	if asJSON {
		return report.JSON(w, s)
	}
	return report.Text(w, s, TextOptions(w, rec, all, Colour(w)))
}

// TextOptions lays out a summary for w: the first findings, or all of everything.
func TextOptions(w io.Writer, rec *record.Record, all, color bool) report.TextOptions {
	return report.TextOptions{Color: color, All: all, Width: Width(w), Height: Height(w), Record: rec,
		More: "redline report " + rec.Dir + " --all"}
}

// ReportFile is the page of a run in its bundle.
const ReportFile = "report.html"

// WriteHTML writes the page of a run into its bundle, whole or not at all.
func WriteHTML(rec *record.Record, s *record.Summary) error {
	return disk.WriteFile(rec.Dir, ReportFile, func(w io.Writer) error { return web.Report(w, rec, s) })
}
