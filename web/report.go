package web

import (
	"bytes"
	"io"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/web/rundata"
)

// Report writes the report of a bundle and its summary as one page that opens
// offline: it asks the network for nothing, and its content security policy
// would not let it. Parts that a bundle lacks (a run without trace has no anatomy) are
// left out and named on the page; the only errors are those of w
// and of figures that JSON cannot hold.
func Report(w io.Writer, rec *record.Record, s *record.Summary) error {
	data := rundata.Of(rec, s)
	var text bytes.Buffer
	if err := report.Text(&text, data.Summary, report.TextOptions{All: true, Width: 100}); err != nil {
		return err
	}
	first, later := divided(data)
	return page{title: data.Run.ID, script: reportScript, data: first, later: later, fallback: text.Bytes()}.write(w)
}

// firstData is what the page needs to show its answer.
type firstData struct {
	*rundata.Run
	Later []string `json:"later"`
}

// divided takes out of a page's data what is not in its first sight, and would take ten times as long to read as the
// rest of it: in the order in which the page shows it. A part is an object with some of the fields of Run.
func divided(data *rundata.Run) (firstData, []part) {
	first := *data
	var later []part
	if data.Latencies != nil {
		later = append(later, part{"latencies", map[string]any{"latencies": data.Latencies}})
	}
	if len(data.Charts) > 0 {
		later = append(later, part{"charts", map[string]any{"charts": data.Charts, "heat": data.Heat}})
	}
	if data.Flames != nil && len(data.Flames.Graphs) > 0 {
		later = append(later, part{"flames", map[string]any{"flames": data.Flames}})
	}
	if len(data.Others) > 0 {
		later = append(later, part{"others", map[string]any{"others": data.Others}})
	}
	first.Latencies, first.Charts, first.Heat, first.Flames, first.Others = nil, nil, nil, nil, nil
	names := []string{}
	for _, l := range later {
		names = append(names, l.name)
	}
	return firstData{&first, names}, later
}
