// Package index reads a plan together with the catalogue's tables in
// statements.json, and names the index that a scan lacks, or why an existing one does
// not serve it.
//
// Its measure is the work with a fitting index: the descent of a B-tree and the blocks
// of the wanted rows, in the planner's own units. What a scan does beyond that is
// waste. It knows expressions as PostgreSQL prints them, and names no index for one
// that it does not understand.
//
// It serves both sides of the record: observe tries its advice with hypopg, and
// diagnose gives it. It talks to no database itself.
package index

import (
	"encoding/json"
	"errors"
	"fmt"
)

const (
	// MaxPlan bounds a plan's text, which comes from the database.
	MaxPlan = 1 << 20
	// maxDepth bounds its nesting.
	maxDepth = 64
)

// Node is a node of PostgreSQL's EXPLAIN (FORMAT JSON), see
// https://www.postgresql.org/docs/current/sql-explain.html. Figures of ANALYZE
// are nil or 0 in a plan that was not run.
type Node struct {
	Type      string   `json:"Node Type"`
	Parent    string   `json:"Parent Relationship"`
	Operation string   `json:"Operation"`
	Strategy  string   `json:"Strategy"` // of an Aggregate: "Plain" makes one row of all
	Relation  string   `json:"Relation Name"`
	Schema    string   `json:"Schema"`
	Alias     string   `json:"Alias"`
	Index     string   `json:"Index Name"`
	Filter    string   `json:"Filter"`
	IndexCond string   `json:"Index Cond"`
	Join      string   `json:"Join Type"`
	HashCond  string   `json:"Hash Cond"`
	MergeCond string   `json:"Merge Cond"`
	SortKey   []string `json:"Sort Key"`
	Cost      float64  `json:"Total Cost"`
	Rows      float64  `json:"Plan Rows"`
	Loops     float64  `json:"Actual Loops"`
	Actual    *float64 `json:"Actual Rows"` // per loop
	Removed   float64  `json:"Rows Removed by Filter"`
	Plans     []Node   `json:"Plans"`
}

// Parse reads EXPLAIN's output: an array with one object that holds Plan, or that
// object alone, as logged by auto_explain.
func Parse(data json.RawMessage) (*Node, error) {
	if len(data) > MaxPlan {
		return nil, fmt.Errorf("plan is larger than %d bytes", MaxPlan)
	}
	type wrapped struct {
		Plan *Node `json:"Plan"`
	}
	var list []wrapped
	if err := json.Unmarshal(data, &list); err != nil {
		var one wrapped
		if json.Unmarshal(data, &one) != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
		list = []wrapped{one}
	}
	if len(list) == 0 || list[0].Plan == nil {
		return nil, errors.New("plan: no Plan in it")
	}
	return list[0].Plan, nil
}

// Relations lists the tables that a plan names, each once.
func (n *Node) Relations() (names []string) {
	seen := map[string]bool{}
	var walk func(n *Node, depth int)
	walk = func(n *Node, depth int) {
		if depth > maxDepth {
			return
		}
		if n.Relation != "" && !seen[n.Relation] {
			seen[n.Relation] = true
			names = append(names, n.Relation)
		}
		for i := range n.Plans {
			walk(&n.Plans[i], depth+1)
		}
	}
	walk(n, 0)
	return names
}

// GroupsForPage reports whether a plan groups rows below a limit: it reads all rows that match, however few are returned.
func (n *Node) GroupsForPage() bool { return n.groups(false, 0) }

func (n *Node) groups(limited bool, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch n.Type {
	case "Group", "Aggregate", "Unique":
		if limited && n.Strategy != "Plain" {
			return true
		}
	}
	for i := range n.Plans {
		// A limit takes the first of the rows, not of what a subquery makes for each of them.
		if below := &n.Plans[i]; below.groups((limited || n.Type == "Limit") && !below.subquery(), depth+1) {
			return true
		}
	}
	return false
}

// Uses reports whether a plan reads an index of the name.
func (n *Node) Uses(name string) bool { return n.uses(name, 0) }

func (n *Node) uses(name string, depth int) bool {
	if depth > maxDepth {
		return false
	}
	if n.Index == name {
		return true
	}
	for i := range n.Plans {
		if n.Plans[i].uses(name, depth+1) {
			return true
		}
	}
	return false
}
