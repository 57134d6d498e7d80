package planlog

import (
	"math"
	"regexp"
	"strings"

	"github.com/redline-go/redline/redact"
)

// maxDepth bounds the nesting of plans.
const maxDepth = 64

// names are the fields of a node that hold names, figures those with numbers, expressions
// those that may hold constants. Other fields are left out, and so are values of the
// wrong kind: a text in a plan can hold anything.
var (
	names = fields("Node Type", "Parent Relationship", "Subplan Name", "Operation", "Join Type", "Strategy",
		"Partial Mode", "Scan Direction",
		"Relation Name", "Schema", "Alias", "Index Name", "Sort Method", "Sort Space Type")
	figures = fields("Startup Cost", "Total Cost", "Plan Rows", "Actual Startup Time", "Actual Total Time", "Actual Rows",
		"Actual Loops", "Rows Removed by Filter", "Rows Removed by Index Recheck", "Rows Removed by Join Filter",
		"Heap Fetches", "Shared Hit Blocks", "Shared Read Blocks",
		"Sort Space Used", "Exact Heap Blocks", "Lossy Heap Blocks")
	expressions = fields("Filter", "Index Cond", "Recheck Cond", "Hash Cond", "Merge Cond", "Join Filter", "TID Cond", "One-Time Filter")
	lists       = fields(sortKey, "Presorted Key", "Group Key")
)

// fields makes a set of names. A field of a plan is kept only if its name is known,
// because a later version may print values in a new one.
func fields(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// clean copies a node without constants and unknown fields.
func clean(node map[string]any, depth int) map[string]any {
	kept := map[string]any{}
	for name, value := range node {
		switch v := value.(type) {
		case float64:
			if figures[name] && !math.IsNaN(v) && !math.IsInf(v, 0) {
				kept[name] = v
			}
		case string:
			switch {
			case names[name]:
				kept[name] = v
			case expressions[name]:
				kept[name] = hide(v)
			}
		case []any:
			switch {
			case name == "Plans" && depth < maxDepth:
				below := []any{}
				for _, one := range v {
					if child, ok := one.(map[string]any); ok {
						below = append(below, clean(child, depth+1))
					}
				}
				kept[name] = below
			case lists[name]:
				texts := []any{}
				for _, one := range v {
					if text, ok := one.(string); ok {
						texts = append(texts, hide(text))
					}
				}
				kept[name] = texts
			}
		}
	}
	return kept
}

var (
	// pattern matches where a LIKE pattern begins; number matches numbers that
	// redact keeps, such as limits and positions. In a plan's expressions all of
	// them are data.
	pattern = regexp.MustCompile(`~~\*? '[^']`)
	hidden  = regexp.MustCompile(`(~~\*? )'…'`)
	number  = regexp.MustCompile(`([ (,'-])\d[\d.]*\b`)
)

// hide removes the constants from an expression. Of a LIKE pattern it keeps whether
// it begins with a wildcard, which decides whether an index can serve it.
func hide(expression string) string {
	var wild []bool
	for _, m := range pattern.FindAllString(expression, -1) {
		wild = append(wild, strings.ContainsAny(m[len(m)-1:], "%_"))
	}
	clean, _ := redact.SQL(expression)
	clean = number.ReplaceAllString(clean, "${1}…")
	if len(hidden.FindAllString(clean, -1)) != len(wild) {
		return clean
	}
	i := 0
	return hidden.ReplaceAllStringFunc(clean, func(text string) string {
		i++
		before := strings.TrimSuffix(text, "'…'")
		if wild[i-1] {
			return before + "'%…'"
		}
		return before + "'…%'"
	})
}
