package server

// Figures are pg_stat_statements' counts of one statement.
//
// They are float64, exact for integers up to 2^53, because the server's bigint and double
// precision both fit.
type Figures struct {
	Calls, Rows float64
	// Shared blocks of 8 kB: read from outside the buffer cache, found in it, dirtied.
	Reads, Hits, Dirtied float64
	Temp                 float64 // temporary blocks read and written
	WAL                  float64 // bytes
	Exec, Plan           float64 // ms
	JIT                  float64 // of Exec, the ms in which the server compiled the plan
}

// Minus returns the difference from an earlier reading.
func (f Figures) Minus(g Figures) Figures {
	return f.Plus(Figures{-g.Calls, -g.Rows, -g.Reads, -g.Hits, -g.Dirtied, -g.Temp, -g.WAL, -g.Exec, -g.Plan, -g.JIT})
}

// Plus returns the sum, over users or intervals.
func (f Figures) Plus(g Figures) Figures {
	return Figures{
		f.Calls + g.Calls, f.Rows + g.Rows, f.Reads + g.Reads, f.Hits + g.Hits, f.Dirtied + g.Dirtied, f.Temp + g.Temp,
		f.WAL + g.WAL, f.Exec + g.Exec, f.Plan + g.Plan, f.JIT + g.JIT,
	}
}

// Entry is a row of pg_stat_statements: it counts per user.
type Entry struct {
	User  uint32 // oid of the role
	Query int64  // query id, which depends on the server's version and on oids of tables
}
