package windows

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go" // the columns that DuckDB and pandas open
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/redline-go/redline/record/timebase"
)

// windows.parquet has one row per (window, series), sorted by series, labels
// and window, so that each series is one stretch of the file:
//
//	window    int64   index of the window
//	start_ns  int64   its begin in run time
//	series    string  name
//	labels    string  canonical label text, "" for none
//	unit      string
//	value     double
//	width_ns  int64   width of the window: several of the run's that were joined in a long run
//	windows   int64   how many windows of the run it was joined from, those without a value not counted
//
// All but the value are dictionary encoded. A long format was chosen over one
// column per series because labels come and go during a run.
const (
	rowsPerGroup = 128 << 10
	rowsPerWrite = 1 << 10
)

// parquetRow is a row; its tags are the schema.
type parquetRow struct {
	Window  int64   `parquet:"window,dict"`
	StartNS int64   `parquet:"start_ns,dict"`
	Series  string  `parquet:"series,dict"`
	Labels  string  `parquet:"labels,dict"`
	Unit    string  `parquet:"unit,dict"`
	Value   float64 `parquet:"value"`
	WidthNS int64   `parquet:"width_ns,dict"`
	Windows int64   `parquet:"windows,dict"`
}

// WriteParquet writes a finished table.
func WriteParquet(out io.Writer, t *Table) (err error) {
	// The library panics on some write errors of its buffers; the caller can
	// handle an error.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encode parquet: %v", p)
		}
	}()
	w := parquet.NewGenericWriter[parquetRow](out,
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault}),
		parquet.DataPageVersion(1), // the version that ReadParquet knows
		parquet.MaxRowsPerRowGroup(rowsPerGroup),
		parquet.CreatedBy("redline", "1", ""),
		parquet.KeyValueMetadata("redline.window_ns", fmt.Sprint(int64(t.width))),
	)
	rows := make([]parquetRow, 0, rowsPerWrite)
	write := func() error {
		_, err := w.Write(rows)
		rows = rows[:0]
		return err
	}
	for _, c := range t.ordered {
		for i, window := range c.windows {
			rows = append(rows, parquetRow{
				Window: int64(window), StartNS: int64(timebase.WindowSpan(int64(window), t.width).From),
				Series: c.Name, Labels: c.Labels, Unit: c.Unit, Value: c.values[i],
				WidthNS: t.grid.of(int64(window)) * int64(t.width), Windows: int64(c.count(i)),
			})
			if len(rows) == cap(rows) {
				if err := write(); err != nil {
					return err
				}
			}
		}
	}
	if err := write(); err != nil {
		return err
	}
	return w.Close()
}
