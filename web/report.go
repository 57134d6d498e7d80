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
	return page{title: data.Run.ID, script: reportScript, data: data, fallback: text.Bytes()}.write(w)
}
