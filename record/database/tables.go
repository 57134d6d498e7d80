package database

// Planner holds the cost settings of the server's planner, in its own unit: the cost of
// one sequential block read.
type Planner struct {
	SeqPage    float64 `json:"seq_page_cost"`
	RandomPage float64 `json:"random_page_cost"`
	Tuple      float64 `json:"cpu_tuple_cost"`
	IndexTuple float64 `json:"cpu_index_tuple_cost"`
	Operator   float64 `json:"cpu_operator_cost"`
}

// Table is a table that a plan reads, as the server's catalogue describes it.
type Table struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	// Rows is the planner's estimate, -1 before the first ANALYZE.
	Rows  float64 `json:"rows"`
	Pages float64 `json:"pages"` // blocks of 8 kB
	// Live is how many rows the server counted, Changed how many of them were
	// written since the last ANALYZE.
	Live    float64  `json:"rows_counted"`
	Changed float64  `json:"rows_changed"`
	Columns []Column `json:"columns"`
	Indexes []Index  `json:"indexes"`
	// References are the foreign keys of other tables that point here.
	References []Reference `json:"references"`
}

// Column is one column. Its statistics are there if redline's role may read them.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Distinct counts the values, or is minus their part of the rows; 0 is not known.
	Distinct    float64 `json:"distinct,omitempty"`
	Nulls       float64 `json:"nulls,omitempty"` // part of the rows
	Correlation float64 `json:"correlation,omitempty"`
	Known       bool    `json:"known"` // there are statistics
}

// Index is one index. Constants of its definition are hidden.
type Index struct {
	Name       string     `json:"name"`
	Definition string     `json:"definition"`
	Method     string     `json:"method"` // "btree"
	Keys       []IndexKey `json:"keys"`
	Include    []string   `json:"include"`
	Predicate  string     `json:"predicate,omitempty"` // of a partial one
	Unique     bool       `json:"unique"`
	Valid      bool       `json:"valid"` // false after a CREATE INDEX CONCURRENTLY that failed
	Bytes      int64      `json:"bytes"`
	Scans      int64      `json:"scans"` // since the server's statistics were reset
}

// IndexKey is one key of an index: a column, or an expression.
type IndexKey struct {
	Column     string `json:"column,omitempty"`
	Expression string `json:"expression,omitempty"`
	Class      string `json:"class"` // operator class: "int4_ops", "text_pattern_ops"
	Collation  string `json:"collation,omitempty"`
	// Bytes: text is ordered byte by byte, so LIKE 'abc%' is a range.
	Bytes      bool `json:"bytewise"`
	Desc       bool `json:"desc"`
	NullsFirst bool `json:"nulls_first"`
}

// Reference is a foreign key that points at a table. Deleting a row there searches for
// the rows that refer to it.
type Reference struct {
	Schema  string   `json:"schema"`
	Table   string   `json:"table"` // that holds the key
	Columns []string `json:"columns"`
	Rows    float64  `json:"rows"` // of that table, as Table.Rows
	Pages   float64  `json:"pages"`
	Cascade bool     `json:"cascade"`
	Indexed bool     `json:"indexed"` // a valid index begins with the columns
}

// IndexCheck is an index that was tried without creating it, with the extension
// hypopg. Costs are the planner's.
type IndexCheck struct {
	Index  string  `json:"index"` // CREATE INDEX ...
	Before float64 `json:"cost_before"`
	After  float64 `json:"cost_after"`
	Used   bool    `json:"used"` // by the plan
	Error  string  `json:"error,omitempty"`
}
