package slow

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/index"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/statement"
)

// cost is what one execution of a statement costs and why: the proof that a
// statement is wasteful, beyond being slow. Package record/index reads the plan.
type cost struct {
	mean         float64 // ns
	rows, blocks float64 // per call; blocks is -1 when not counted
	scan         index.Waste
	planned      bool // scan is set, and an index would save most of its work
	advice       index.Advice
	likely       index.Advice   // for a scan that reads in vain, though the planner's costs do not show that an index halves the work
	references   []index.Advice // that a deletion lacks
	checks       []database.IndexCheck
	planError    string
	planSource   string
	wasteful     bool
	confidence   findings.Confidence
	read         demand.Rows // what the service spends on its rows, if many is set
	many         bool        // it returns more rows than a page shows, and fewer are the remedy
	groups       bool        // it groups all rows that match for a page of them
	compiling    float64     // the part of its time in which the server compiles its plan, 0 to 1
}

// costOf gathers it: the means of pg_stat_statements, the blocks of the windows,
// the worst scan of the plan. With a plan, an index must halve both the planner's
// cost and the measured time: a plan for other parameters than those executed may
// look wasteful and be fast.
func costOf(p *diagnose.Pass, s database.Statement) cost {
	calls := float64(s.Calls)
	c := cost{mean: float64(s.Time) / calls, rows: float64(s.Rows) / calls, blocks: -1, planError: s.PlanError,
		planSource: s.PlanSource, checks: s.Checks, confidence: findings.Medium,
		compiling: float64(s.Compiling) / max(1, float64(s.Time))}
	labels := series.Labels("queryid", s.QueryID)
	hits, okHits := p.Sum(series.StatementHits, labels)
	reads, okReads := p.Sum(series.StatementReads, labels)
	if counted, ok := p.Sum(series.StatementCalls, labels); ok && counted > 0 && (okHits || okReads) {
		c.blocks = (hits + reads) / counted
	}
	all := p.Statements()
	return c.assess(s, index.Catalogue{Tables: all.Tables, Planner: all.Planner})
}

// assess compares what a statement costs with what its plan and its rows need.
func (c cost) assess(s database.Statement, catalogue index.Catalogue) cost {
	if len(s.Plan) == 0 {
		// Without a plan the blocks touched per row returned are the only evidence,
		// so the bar is higher. An aggregate over many rows looks the same, hence
		// medium confidence.
		c.wasteful = c.blocks >= wastefulBlocks && c.blocks >= blocksPerRow*c.rows
		return c
	}
	root, err := index.Parse(s.Plan)
	if err != nil {
		c.planError = err.Error()
		return c
	}
	if c.scan, c.planned = index.Worst(root, c.rows, c.blocks, catalogue); c.planned {
		if c.advice = c.scan.Advise(); statement.Shuffles(s.Text) {
			c.advice = index.Advice{}
		}
	}
	if c.discards() {
		c.likely = c.scan.Advise()
	}
	c.groups = c.advice.Create == "" && root.GroupsForPage()
	if c.planned {
		if c.groups {
			c.planned, c.advice = false, index.Advice{} // the rows are wanted; that they are few comes later
		}
		c.wasteful = c.mean >= index.Halves*max(demand.LookUpNS, c.mean*c.scan.Needed)
		if c.blocks >= 0 || c.scan.Removed() > 0 {
			c.confidence = findings.High
		}
	} else if lacking := index.References(root, catalogue); c.scansReferences(root, lacking, catalogue) {
		c.references, c.wasteful, c.confidence = lacking, true, findings.High
	}
	return c
}

// discards reports whether a plan's scan reads most of its rows in vain and the statement touches many more blocks than its rows
// need, although an index for the scan alone, by the planner's costs, would not halve it: otf's page of 20 rows stops early, which the
// costs of its join do not show.
func (c cost) discards() bool {
	return !c.planned && c.scan.Node != nil && c.blocks >= wastefulBlocks && c.blocks >= blocksPerRow*max(1, c.rows) && c.scan.Selective()
}

// scansReferences reports whether a deletion touches twice the blocks that its plan
// and its rows need, because it scans the tables that refer to them. The checks run
// in triggers, which EXPLAIN without ANALYZE does not show (PostgreSQL manual,
// Constraints: an index on the referencing columns is not made automatically).
func (c cost) scansReferences(root *index.Node, lacking []index.Advice, catalogue index.Catalogue) bool {
	needed := 0.0
	for _, s := range index.Scans(root, c.rows, catalogue) {
		needed += s.NeededBlocks()
	}
	// Each reference with an index costs its descent and a few rows.
	needed += blocksPerRow * max(1, c.rows) * float64(len(lacking))
	return len(lacking) > 0 && c.blocks >= index.Halves*needed
}

// saved is the part of an execution that the index saves, 0 to 1; 1 if unknown.
func (c cost) saved() float64 {
	if !c.wasteful || !c.planned {
		return 1
	}
	return 1 - max(c.scan.Needed, min(1, demand.LookUpNS/c.mean))
}

func (c cost) blocksText() string {
	if c.blocks < 0 {
		return "an unknown number of blocks"
	}
	return diagnose.Counted(c.blocks, "block", "blocks")
}

// title names the kind of waste, most specific first. share is a part of of.
func (c cost) title(share float64, of string, s database.Statement) string {
	node := c.scan.Node
	switch {
	case c.wasteful && c.planned && node.Index == "":
		return fmt.Sprintf("A %s of %s takes %s of %s", scanName(node.Type), node.Relation, diagnose.Percent(share), of)
	case c.wasteful && c.planned && node.Filter == "":
		return fmt.Sprintf("A scan of %s through %s reads and sorts many rows to return a few; that takes %s of %s",
			node.Relation, node.Index, diagnose.Percent(share), of)
	case c.wasteful && c.planned:
		return fmt.Sprintf("A scan of %s through %s that discards most rows takes %s of %s", node.Relation,
			node.Index, diagnose.Percent(share), of)
	case len(c.references) > 0:
		return fmt.Sprintf("Foreign keys without an index make a deletion take %s of %s at %s per call: %s",
			diagnose.Percent(share), of, diagnose.Span(c.mean), statement.Brief(s.Text))
	}
	if c.returnsMany(s.Text) {
		return fmt.Sprintf("Reading %s per call takes %s of %s: %s", diagnose.Counted(c.rows, "row", "rows"),
			diagnose.Percent(share), of, statement.Brief(s.Text))
	}
	return fmt.Sprintf("One statement takes %s of %s at %s per call: %s", diagnose.Percent(share), of, diagnose.Span(c.mean),
		statement.Brief(s.Text))
}

// ranked is the remedy for a statement that numbers all rows to keep some of each group.
const ranked = "It numbers all rows of each group to keep a few. Look those up instead, group by group (ORDER BY ... LIMIT 1 for each, " +
	"or the row of MAX), with an index on the columns of PARTITION BY and then ORDER BY; or keep the current row of each group in a table."

// shuffled is the remedy for a statement that sorts by a random value. Its cost is reading and
// sorting whole rows of which it returns few: keys alone are smaller, and the existing index finds
// a key drawn at random.
const shuffled = "Sort the keys alone, in a subquery (WHERE id IN (SELECT id ... ORDER BY random() LIMIT n)), or draw keys " +
	"at random and read those rows. No index serves ORDER BY a random value, so all rows that match the condition are read " +
	"and sorted for the few that are returned."

// scanName names a node that reads without an index, in lower case.
func scanName(node string) string {
	if strings.Contains(node, "Seq Scan") {
		return "sequential scan"
	}
	return strings.ToLower(node)
}

// evidence gives the measured blocks and rows, then the plan or the reason why
// there is none, then the planner's verdict on the advised index.
func (c cost) evidence(text string) []findings.Evidence {
	var facts []findings.Evidence
	if c.blocks >= 0 {
		does := "returns"
		if !statement.Reads(text) {
			does = "changes"
		}
		facts = append(facts, diagnose.Fact(diagnose.FromPostgres, c.blocks, "blocks",
			"each call touches %s of 8 KiB and %s %s", c.blocksText(), does, diagnose.Mean(c.rows, "row", "rows")))
	}
	if c.compiling >= mostlyCompiled {
		facts = append(facts, diagnose.Fact(diagnose.FromPostgres, c.compiling, diagnose.Ratio,
			"compiling its plan (JIT) takes %s of the statement's time", diagnose.Percent(c.compiling)))
	}
	switch node := c.scan.Node; {
	case c.planned:
		text := fmt.Sprintf("plan: %s on %s", node.Type, node.Relation)
		if c.scan.Filter != "" {
			text += ", Filter " + c.scan.Filter
		}
		if len(c.scan.SortKey) > 0 {
			text += ", sorted by " + strings.Join(c.scan.SortKey, ", ")
		}
		if strings.HasPrefix(c.planSource, "auto_explain") {
			text += "; from " + c.planSource
		}
		facts = append(facts, diagnose.Fact(diagnose.FromPostgres, node.Cost, "cost", "%s", text))
		if removed := c.scan.Removed(); removed > 0 {
			facts = append(facts, diagnose.Fact(diagnose.FromPostgres, removed, "rows", "the filter discards %s per call",
				diagnose.Counted(removed, "row", "rows")))
		}
		if c.advice.Create != "" {
			facts = append(facts, diagnose.Fact(diagnose.FromPostgres, c.scan.Blocks, "blocks",
				"with a suitable index it would touch about %s", diagnose.Counted(c.scan.Blocks, "block", "blocks")))
		}
	case c.likely.Create != "":
		facts = append(facts, diagnose.Fact(diagnose.FromPostgres, c.scan.Node.Cost, "cost", "plan: %s on %s, Filter %s",
			c.scan.Node.Type, c.scan.Node.Relation, c.scan.Filter))
	case c.planError != "":
		facts = append(facts, diagnose.Fact(diagnose.FromPostgres, 0, "", "no plan: %s", c.planError))
	}
	for _, check := range c.checks {
		if check.Error == "" && check.Index == c.advice.Create {
			facts = append(facts, diagnose.Fact(diagnose.FromPostgres, check.After, "cost", "%s", checked(check)))
		}
	}
	return facts
}

// checked says what the planner makes of a hypothetical index (hypopg).
func checked(c database.IndexCheck) string {
	if !c.Used {
		return "checked with hypopg: the planner does not choose the index"
	}
	return fmt.Sprintf("checked with hypopg: the planner's cost falls from %s to %s", diagnose.Number(c.Before), diagnose.Number(c.After))
}

// remedy is the index to create, or why the existing one is not used, or the index that a
// deletion's references lack, or else to look at the executed plan. No index serves a random
// order.
func (c cost) remedy(text string) string {
	if c.compiling >= mostlyCompiled {
		return fmt.Sprintf("Stop the server from compiling the plan, which takes %s of the statement's time: set jit = off "+
			"for the service's role (ALTER ROLE ... SET jit = off), or raise jit_above_cost. Then: ",
			diagnose.Percent(c.compiling)) + c.less(text)
	}
	return c.less(text)
}

// mostlyCompiled is the part of a statement's time from which not compiling its plan comes first: it needs no change of the statement.
const mostlyCompiled = 0.3

// less is the remedy by which the statement does less.
func (c cost) less(text string) string {
	switch {
	case statement.Shuffles(text):
		return shuffled
	case c.wasteful && c.planned && c.advice.Create != "":
		reads := "far fewer rows"
		if c.advice.Exact {
			reads = "only the rows it returns"
		}
		return strings.TrimSpace(c.advice.Create + "; then the scan reads " + reads + ". " + strings.Join(c.advice.Why, " "))
	case c.likely.Create != "":
		return strings.TrimSpace(c.likely.Create + "; then the scan of " + c.scan.Node.Relation + " reads far fewer rows. " +
			strings.Join(c.likely.Why, " "))
	case statement.Ranks(text):
		return ranked
	case c.wasteful && c.planned && len(c.advice.Why) > 0:
		return c.advice.String()
	case len(c.references) > 0:
		var parts []string
		for _, a := range c.references {
			parts = append(parts, a.String())
		}
		return strings.Join(parts, " ")
	}
	return c.otherwise(text)
}

// leastMany is the number of rows per call from which a statement returns more than a page shows.
const leastMany = 1000

// returnsMany reports whether the remedy is to return fewer rows.
func (c cost) returnsMany(text string) bool {
	indexed := c.wasteful && c.planned && (c.advice.Create != "" || len(c.advice.Why) > 0)
	return c.rows >= leastMany && statement.Reads(text) && !indexed && len(c.references) == 0 &&
		!statement.Shuffles(text) && !statement.Skips(text) && !statement.Counts(text)
}

// look is where a statement's executed plan is found.
const look = "Look at EXPLAIN (ANALYZE, BUFFERS) of the statement"

// lessWritten is the remedy for a statement that returns no rows to read fewer of.
func (c cost) lessWritten(text string) string {
	const each = "each index, trigger and foreign key of its table costs every row that it writes."
	verb := cmp.Or(statement.Change(text), statement.Verb(text))
	costs := each
	switch {
	case verb == "COPY":
		return "It already writes in bulk: " + each
	case !statement.Writes(text): // of which there is no plan
		return "Run it less often, in smaller steps, or outside of requests."
	case verb == "INSERT" || verb == "REPLACE":
	case c.planError != "" || c.wasteful && !c.planned: // by its blocks alone
		costs = "its condition may lack an index, and so may a foreign key that refers to its table."
	default:
		costs = "each index and trigger of its table, and each foreign key that refers to it, costs every row that it changes."
	}
	return look + ", in a transaction that you roll back, because this executes it: " + costs
}

// otherwise is the remedy where no index helps: what the statement's form or its rows say.
func (c cost) otherwise(text string) string {
	switch {
	case !statement.Reads(text):
		return c.lessWritten(text)
	case c.groups:
		return "Choose the page first (a subquery with the condition, ORDER BY and LIMIT), and join and group only its rows. " +
			"At present the statement groups all rows that match, and then returns a page of the groups."
	case statement.Skips(text):
		return "Continue after the last row of the previous page (WHERE id > $1 ORDER BY id LIMIT n), in the order of an " +
			"index: OFFSET reads the rows that it skips, so later pages cost more. If the first page is slow too: " + look + "."
	case statement.Counts(text):
		const less = "Count less often (cache the result for some seconds, or keep it in a table that writes update), show " +
			"an estimate (pg_class.reltuples), or fetch one row more than a page shows instead of the total."
		if !c.planned && statement.Filters(text) {
			return look + ": PostgreSQL gave no plan, and its condition may lack an index. If it has one: " + less
		}
		return less + " The statement reads every row that it counts."
	case c.returnsMany(text):
		return manyRows(c.rows)
	}
	return look + "; read fewer rows, or cache the result."
}

// manyRows is the remedy for a statement that returns many rows per call.
func manyRows(rows float64) string {
	return fmt.Sprintf("It returns %s per call: filter, aggregate and sort in the statement, and select only the rows and "+
		"columns that the response shows (WHERE, LIMIT).", diagnose.Counted(rows, "row", "rows"))
}
