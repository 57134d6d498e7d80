package database

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxPlanBytes bounds a plan, which comes from the database.
	maxPlanBytes = 1 << 20
	// maxPlanDepth bounds its nesting.
	maxPlanDepth = 64
)

// node is a node of PostgreSQL's EXPLAIN (FORMAT JSON), see
// https://www.postgresql.org/docs/current/sql-explain.html. Figures of ANALYZE
// are absent in a plan that was not run.
type node struct {
	Type      string   `json:"Node Type"`
	Relation  string   `json:"Relation Name"`
	Index     string   `json:"Index Name"`
	Filter    string   `json:"Filter"`
	IndexCond string   `json:"Index Cond"`
	SortKey   []string `json:"Sort Key"`
	Cost      float64  `json:"Total Cost"`
	Rows      float64  `json:"Plan Rows"`
	Loops     float64  `json:"Actual Loops"`
	Removed   float64  `json:"Rows Removed by Filter"`
	Plans     []node   `json:"Plans"`
}

// scan is the place of a plan that reads what it does not need.
type scan struct {
	Table   string
	Filter  string
	SortKey []string // of the sort above it, if any
	Cost    float64
	Removed float64 // rows read and discarded per execution; 0 when not known
	Node    string  // "Seq Scan", or the index scan that filters
	Index   string  // the index it uses; empty for a sequential scan
}

// parsePlan reads EXPLAIN's output: an array with one object that holds Plan.
func parsePlan(data json.RawMessage) (node, error) {
	if len(data) > maxPlanBytes {
		return node{}, fmt.Errorf("plan is larger than %d bytes", maxPlanBytes)
	}
	var wrapped []struct {
		Plan *node `json:"Plan"`
	}
	if err := json.Unmarshal(data, &wrapped); err != nil {
		return node{}, fmt.Errorf("plan: %w", err)
	}
	if len(wrapped) == 0 || wrapped[0].Plan == nil {
		return node{}, errors.New("plan: no Plan in it")
	}
	return *wrapped[0].Plan, nil
}

// costliest returns the costliest scan of a plan that filters rows away: a
// sequential scan with a filter, or an index scan that still filters. ok is false
// when there is none.
func costliest(root node) (best scan, ok bool) {
	var walk func(n node, sort []string, depth int)
	walk = func(n node, sort []string, depth int) {
		if depth > maxPlanDepth {
			return
		}
		if len(n.SortKey) > 0 {
			sort = n.SortKey
		}
		filters := n.Filter != "" && (strings.Contains(n.Type, "Seq Scan") || n.IndexCond != "" || n.Index != "")
		if filters && n.Relation != "" && (!ok || n.Cost > best.Cost) {
			best, ok = scan{
				Table: n.Relation, Filter: n.Filter, SortKey: sort, Cost: n.Cost,
				Removed: n.Removed * max(1, n.Loops), Node: n.Type, Index: n.Index,
			}, true
		}
		for _, child := range n.Plans {
			walk(child, sort, depth+1)
		}
	}
	walk(root, nil, 0)
	return best, ok
}

// Patterns over the text PostgreSQL prints for expressions. They are compiled
// per call: a diagnosis looks at a handful of plans.
const (
	// A column compared with a parameter or literal: (user_id = $1),
	// ((uid)::text = $1), (o.status = ANY (...)).
	equality = `(?:\w+\.)?("?\w+"?)(?:[)]::[\w ]+)?[)]* (?:=|= ANY) `
	ranged   = `(?:\w+\.)?("?\w+"?)(?:[)]::[\w ]+)?[)]* (?:<|>|<=|>=|~~) `
	plainKey = `^(?:\w+\.)?("?\w+"?)( DESC)?(?: NULLS (?:FIRST|LAST))?$`
)

// indexFor suggests the index that a scan lacks: columns compared for equality,
// then the sort's keys, or else one column that is ranged over. It is empty when
// the filter compares no plain column.
func (s scan) indexFor() string {
	equal := columns(equality, s.Filter)
	var rest []string
	key := regexp.MustCompile(plainKey)
	for _, k := range s.SortKey {
		m := key.FindStringSubmatch(k)
		if m == nil {
			rest = nil
			break
		}
		if !slices.Contains(equal, m[1]) {
			rest = append(rest, m[1]+m[2])
		}
	}
	if len(rest) == 0 {
		for _, c := range columns(ranged, s.Filter) {
			if !slices.Contains(equal, c) {
				rest = []string{c}
				break
			}
		}
	}
	if len(equal) == 0 && len(columns(ranged, s.Filter)) == 0 {
		return ""
	}
	return fmt.Sprintf("CREATE INDEX ON %s (%s)", s.Table, strings.Join(append(equal, rest...), ", "))
}

func columns(pattern, filter string) []string {
	var found []string
	for _, at := range regexp.MustCompile(pattern).FindAllStringSubmatchIndex(filter, 16) {
		// No plain index serves a function of a column, (lower(a) = $1).
		if before := strings.TrimRight(filter[:at[0]], "("); len(before) < at[0] && endsInWord(before) {
			continue
		}
		if name := filter[at[2]:at[3]]; !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// endsInWord reports whether text ends in a letter, a digit or '_'.
func endsInWord(text string) bool {
	if text == "" {
		return false
	}
	c := text[len(text)-1]
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
