package record

import "time"

// Bounds on a bundle's contents. Writers keep to them, and a bundle from
// elsewhere that does not is refused with an error that names the file, because
// it would otherwise choose how much memory its reader takes.
const (
	MaxRunJSON = 8 << 20   // bytes of run.json
	MaxJSON    = 64 << 20  // bytes of each other JSON file
	MaxJournal = 1 << 30   // bytes of windows.journal
	MaxParquet = 512 << 20 // bytes of windows.parquet
	MaxHlog    = 1 << 30   // bytes of latency.hlog
	MaxHlogRow = 1 << 20   // bytes of one of its lines
	MaxSlow    = 64 << 20  // bytes of slow.jsonl
	MaxSpans   = 64 << 20  // bytes of spans.jsonl
	MaxProfile = 64 << 20  // bytes of one profile
	MaxTrace   = 256 << 20 // bytes of one execution trace
	MaxFiles   = 100_000   // profiles, and traces, of one bundle

	// MaxSeries is the number of series; a label with a value per request
	// reaches it and is then an error instead of all the memory.
	MaxSeries = 1 << 16
	// MaxSeriesText is the length of a series' name, labels or unit, in bytes.
	MaxSeriesText = 4 << 10
	// MaxPoints is the number of (window, series) values: three hours of 300
	// series in windows of 100 ms. In memory a point takes 12 bytes.
	MaxPoints = 32 << 20
	// MaxWindow is the largest magnitude of a window's index.
	MaxWindow = 1<<31 - 1
	// MaxWindowWidth bounds Run.Window.
	MaxWindowWidth = time.Hour
)
