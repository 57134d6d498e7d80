package planlog

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	// costs end the first line of a node (ExplainNode in src/backend/commands/explain.c).
	// Without ANALYZE there are no actual figures, without TIMING no times, and since
	// PostgreSQL 18 actual rows have two decimals.
	costs = regexp.MustCompile(`^(\s*)(?:->  )?(.*?)  \(cost=([\d.]+)\.\.([\d.]+) rows=(\d+) width=\d+\)` +
		`(?: \((?:actual (?:time=([\d.]+)\.\.([\d.]+) )?rows=([\d.]+) loops=(\d+)|(never executed))\))?$`)
	// reads splits the title of a node that reads a table.
	reads = regexp.MustCompile(`^(.*?)(?: using ("[^"]+"|\S+))?(?: on (?:("[^"]+"|[^\s."]+)\.)?("[^"]+"|\S+)(?: ("[^"]+"|\S+))?)?$`)
	// property is a line below a node.
	property = regexp.MustCompile(`^\s*([A-Z][A-Za-z ]+): (.*)$`)
)

// sortKey is the one property that is a list.
const sortKey = "Sort Key"

// open is a node whose lines are being read.
type open struct {
	indent int
	node   map[string]any
}

// parseText reads the text format. The statement's own lines come first; the first
// line with costs ends them.
func parseText(body string) (text string, id int64, root map[string]any) {
	var stack []open
	var words []string
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		m := costs.FindStringSubmatch(line)
		switch {
		case m != nil && len(stack) < 2*maxDepth:
			node := nodeOf(m)
			indent := len(m[1])
			for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
				stack = stack[:len(stack)-1]
			}
			switch {
			case len(stack) > 0:
				above := stack[len(stack)-1].node
				children, _ := above["Plans"].([]any)
				above["Plans"] = append(children, node)
			case root == nil:
				root = node
			default:
				return strings.Join(words, "\n"), id, root // a second plan belongs to another entry
			}
			stack = append(stack, open{indent, node})
		case root == nil:
			if rest, found := strings.CutPrefix(line, "Query Text: "); found {
				line = rest
			} else if strings.HasPrefix(line, "Query Parameters: ") {
				continue
			}
			words = append(words, line)
		default:
			p := property.FindStringSubmatch(line)
			if p == nil {
				continue
			}
			if p[1] == "Query Identifier" {
				id, _ = strconv.ParseInt(p[2], 10, 64)
				continue
			}
			stack[len(stack)-1].node[p[1]] = value(p[1], p[2])
		}
	}
	return strings.Join(words, "\n"), id, root
}

// value returns a property in the form that JSON has.
func value(name, text string) any {
	if name == sortKey {
		var keys []any
		for _, key := range topLevel(text) {
			keys = append(keys, key)
		}
		return keys
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return number
	}
	return text
}

// topLevel cuts a list at the commas outside of brackets and quotes. A doubled quote
// within a quoted name ends and restarts the quoting, which has the same effect.
func topLevel(list string) (parts []string) {
	depth, from := 0, 0
	var quote rune
	for i, c := range list {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, strings.TrimSpace(list[from:i]))
			from = i + 1
		}
	}
	return append(parts, strings.TrimSpace(list[from:]))
}

// nodeOf makes a node from its first line. The text format puts into the title what
// JSON keeps in separate fields: the operation, the strategy, parallel, backward.
func nodeOf(m []string) map[string]any {
	number := func(text string) float64 { v, _ := strconv.ParseFloat(text, 64); return v }
	node := map[string]any{"Startup Cost": number(m[3]), "Total Cost": number(m[4]), "Plan Rows": number(m[5])}
	if m[9] != "" {
		node["Actual Rows"], node["Actual Loops"] = number(m[8]), number(m[9])
		// Without auto_explain.log_timing there are rows and loops but no times.
		if m[7] != "" {
			node["Actual Startup Time"], node["Actual Total Time"] = number(m[6]), number(m[7])
		}
	}
	parts := reads.FindStringSubmatch(m[2])
	kind := strings.TrimPrefix(parts[1], "Parallel ")
	kind = strings.TrimSuffix(kind, " Backward")
	switch kind {
	case "Insert", "Update", "Delete", "Merge":
		node["Operation"] = kind
		kind = "ModifyTable"
	case "HashAggregate", "GroupAggregate", "MixedAggregate":
		kind = "Aggregate"
	}
	node["Node Type"] = kind
	set := func(name, text string) {
		if text != "" {
			node[name] = strings.ReplaceAll(strings.Trim(text, `"`), `""`, `"`)
		}
	}
	set("Index Name", parts[2])
	// Its index comes after "on", where other nodes have their table.
	if kind == "Bitmap Index Scan" {
		set("Index Name", parts[4])
		return node
	}
	set("Schema", parts[3])
	set("Relation Name", parts[4])
	set("Alias", parts[5])
	if parts[5] == "" {
		set("Alias", parts[4])
	}
	return node
}
