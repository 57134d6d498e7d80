package experiment

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var pageSource string

var page = template.Must(template.New("lab").Parse(pageSource))

// Page writes one offline HTML page of all claims, experiments and results.
func Page(w io.Writer, suite []Experiment, results Results) error {
	rows := Rows(suite, results)
	counts := map[Verdict]int{}
	for _, r := range results.Results {
		counts[r.Verdict]++
	}
	return page.Execute(w, struct {
		Results
		Rows   []Row
		Counts map[Verdict]int
	}{results, rows, counts})
}
