package slow

import "github.com/redline-go/redline/diagnose"

var cause = diagnose.Cause{
	ID:    "db-slow-query",
	Title: "One statement makes the database slow",
	Doc: "One statement takes most of the database's execution time: it reads rows only to discard them, or takes long. The " +
		"service looks idle, the database busy, and every request waits for it.",
	Knows: "- pg_stat_statements gives each statement's part of execution time. The leading one must take at least 40 % of it, and at " +
		"least 15 % of request time (from the execution trace) or of the CPU in use. It must also be wasteful, or slow by itself; a " +
		"frequent but indexed statement is rejected with its figures.\n" +
		"- It is wasteful if an index would at least halve its work: the descent of a B-tree and the blocks of the rows wanted, " +
		"compared with the plan's cost and the blocks touched. If a LIMIT should stop the scan early, but the blocks touched show " +
		"that it does not, the cost of the whole scan counts. A hash or merge join that reads a whole table for a few rows of the " +
		"other side lacks an index on its columns.\n" +
		"- It is slow if it takes at least 20 ms per call, or 5 ms of CPU: the server's and, at 1,000 rows per call or more, also " +
		"the service's for reading them, which then counts as the statement's.\n" +
		"- Time spent waiting for another session's lock is reported as db-lock-wait, unless that session runs a wasteful statement " +
		"in the meantime: then the wait is that statement's.\n" +
		"- For SQLite, redline's build counts the statements (operations.json) and SQLite gives the plan: the statement reads a " +
		"table of at least 1,000 rows in full to return at most an eighth of them, or it takes at least 5 ms per call. Statements " +
		"that read the same table for the same column count together. Without that build, the finding names the function below which " +
		"SQLite takes at least 15 % of the service's CPU.\n" +
		"- Statements that no request runs (another program's on the same database, or a background task's) take no request " +
		"time, so only the CPU that they use counts. redline can distinguish them if its build counts the service's statements.\n" +
		"- redline's build also counts the caller; otherwise redline infers it from waits, and the finding says so.",
	Remedy: "Create the index that its filter and order need. If it exists, find out why it is not used (the operator class " +
		"that LIKE needs, a function or cast on the column, a missing first column, old statistics). statements.json has the " +
		"plan and the tables' indexes.",
	Example: diagnose.Example{
		Lang:   "sql",
		Before: "-- Seq Scan on claims, Filter: (policy = $1)\nSELECT id, cents FROM claims WHERE policy = $1 ORDER BY id DESC;",
		After:  "CREATE INDEX CONCURRENTLY ON claims (policy, id DESC);\nSELECT id, cents FROM claims WHERE policy = $1 ORDER BY id DESC;",
	},
	Verify: "EXPLAIN (ANALYZE, BUFFERS) shows an index scan and a handful of blocks; run again, and the " +
		"statement's part of execution time falls.",
	Cases: []string{"claims-search", "member-login", "revenue-board", "dispatch-desk", "parts-catalogue",
		"stall-ledger", "loan-desk"},
	CoveredBy: []string{"cache-stampede"}, // at its place
}
