package server

// Figures are pg_stat_statements' counts of one statement.
type Figures struct {
	Calls, Rows, Reads, Hits, Dirtied, Temp float64
	WAL                                     float64 // bytes
	Exec, Plan                              float64 // ms
}

// Minus returns what came since an earlier reading.
func (f Figures) Minus(g Figures) Figures {
	return f.Plus(Figures{-g.Calls, -g.Rows, -g.Reads, -g.Hits, -g.Dirtied, -g.Temp, -g.WAL, -g.Exec, -g.Plan})
}

// Plus returns the sum, of users or of intervals.
func (f Figures) Plus(g Figures) Figures {
	return Figures{
		f.Calls + g.Calls, f.Rows + g.Rows, f.Reads + g.Reads, f.Hits + g.Hits, f.Dirtied + g.Dirtied, f.Temp + g.Temp,
		f.WAL + g.WAL, f.Exec + g.Exec, f.Plan + g.Plan,
	}
}

// Entry is a row of pg_stat_statements: it counts per user.
type Entry struct {
	User  uint32
	Query int64
}
