package index

// stale reports whether the planner's figures of a table are far from the counts: rows
// off by half, or never analysed.
func (s Scan) stale() bool {
	t := s.Table
	if t == nil {
		return false
	}
	// Autovacuum analyses at 10 % of changed rows; more than half means long ago.
	if t.Rows < 0 || t.Changed > t.Live/2 && t.Changed > 1000 {
		return true
	}
	if n := s.Node; n.Actual != nil && n.Removed == 0 && !s.Limited { // a limit ends a scan early
		return max(1, *n.Actual) > 10*max(1, n.Rows) || max(1, n.Rows) > 10*max(1, *n.Actual)
	}
	return false
}

// unselective returns the part of the table that has one value of an index's only
// column, if reading that much by the index costs more than a scan; else 0.
func (s Scan) unselective(d design) (fraction float64, column string) {
	if s.Table == nil || len(d.equal) != 1 || len(d.rest) > 0 || len(d.where) > 0 || d.equal[0].column == "" {
		return 0, ""
	}
	column = d.equal[0].column
	if part, known := s.part(column); known && s.dearer(part) && s.Wanted > part*s.Table.Rows/Halves {
		return part, column
	}
	return 0, ""
}

// part returns the part of a table's rows that has one value of a column, on average, by the planner's statistics.
func (s Scan) part(column string) (part float64, known bool) {
	if s.Table == nil || column == "" || s.Table.Rows <= 0 {
		return 0, false
	}
	for _, c := range s.Table.Columns {
		if c.Name == column && c.Known && c.Distinct != 0 {
			if c.Distinct < 0 {
				c.Distinct *= -s.Table.Rows // the planner expects more values in a larger table
			}
			return (1 - c.Nulls) / c.Distinct, true
		}
	}
	return 0, false
}

// dearer reports whether reading a part of the table's rows by an index costs more than reading all of them, in the planner's units.
func (s Scan) dearer(part float64) bool {
	p := s.planner
	return min(part*s.Table.Rows, s.pages())*p.RandomPage > s.pages()*p.SeqPage+s.Table.Rows*p.Tuple
}
