// Package story describes what one slow request did, from what the services reported
// about it: the request as the load saw it, its spans as a tree, the statements that the
// database counted, and its timeline in an execution trace.
//
// Requests are joined to spans by the trace id that the load gave them, and to the
// execution trace by the number that they carry besides; spans to statements by the
// normal form of their SQL (package record/statement). A story is an example: it
// describes the slowest of the few requests that carry a trace id. Other evidence must
// show whether the other slow requests are like them.
//
// It refuses to fill gaps: a span whose parent did not arrive is put at the top, and
// time that no span covers remains its parent's own.
package story

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/statement"
)

// Story is one request with its spans.
type Story struct {
	Request record.SlowRequest
	// Roots are the spans whose parent is not among the spans, in order of their
	// start. The first is usually the entry of the called service.
	Roots []*Node
	// Spans counts those in the tree. Missing counts the parents, other than the request
	// itself, that spans name but that did not arrive.
	Spans, Missing int
}

// Node is a span in its tree.
type Node struct {
	record.TraceSpan
	// Self is the time within the span in which none of its children ran.
	Self     time.Duration
	Children []*Node // in order of their start
	// QueryID is the span's statement in statements.json; empty if it has none, or the
	// database's statements were not seen. Of several with one normal form (they differ
	// in the length of a list) it is the one that took the most time.
	QueryID string
}

// Took is how long the span lasted.
func (n *Node) Took() time.Duration { return n.To - n.From }

// Describe returns the stories of the slowest requests that have spans, at most most of
// them, slowest first; nil if none has. The error is for lists of the bundle that do not
// parse.
func Describe(rec *record.Record, most int) ([]Story, error) {
	slow, err := rec.SlowRequests()
	if err != nil {
		return nil, err
	}
	slow = slices.DeleteFunc(slow, func(s record.SlowRequest) bool { return s.TraceID == "" })
	if len(slow) == 0 {
		return nil, nil
	}
	spans, err := rec.Spans()
	if err != nil || len(spans) == 0 {
		return nil, err
	}
	queries, err := queryIDs(rec)
	if err != nil {
		return nil, err
	}
	byTrace := map[string][]record.TraceSpan{}
	for _, s := range spans {
		byTrace[s.Trace] = append(byTrace[s.Trace], s)
	}
	var all []Story
	for _, request := range slow {
		if len(all) == most {
			break
		}
		if of := byTrace[request.TraceID]; len(of) > 0 {
			all = append(all, describe(request, of, queries))
		}
	}
	return all, nil
}

// queryIDs returns the statements of the record by their key.
func queryIDs(rec *record.Record) (map[string]string, error) {
	var s database.Statements
	err := rec.ReadJSON(database.File, &s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.Statements, func(a, b database.Statement) int { return cmp.Compare(b.Time, a.Time) })
	byKey := map[string]string{}
	for _, known := range s.Statements {
		key := statement.Key(known.Text)
		if _, taken := byKey[key]; !taken && key != "" {
			byKey[key] = known.QueryID
		}
	}
	return byKey, nil
}

// describe makes the tree of one request. It leaves out spans that are each other's
// parents, which only a broken service sends.
func describe(request record.SlowRequest, spans []record.TraceSpan, queries map[string]string) Story {
	s := Story{Request: request}
	nodes := map[string]*Node{}
	var order []*Node
	for _, span := range spans {
		if nodes[span.ID] == nil { // an export that was sent again arrives twice
			n := &Node{TraceSpan: span, QueryID: queries[span.Statement]}
			nodes[span.ID] = n
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b *Node) int { return cmp.Compare(a.From, b.From) })
	absent := map[string]bool{}
	for _, n := range order {
		if parent := nodes[n.Parent]; parent != nil && parent != n {
			parent.Children = append(parent.Children, n)
			continue
		}
		s.Roots = append(s.Roots, n)
		absent[n.Parent] = true
	}
	s.Missing = max(0, len(absent)-1) // one of them is the request itself
	s.Each(func(n *Node) {
		s.Spans++
		n.Self = n.self()
	})
	return s
}

// self returns what the children leave of a span. They are in order of their
// start, and may overlap and outlive it.
func (n *Node) self() time.Duration {
	left, at := n.Took(), n.From
	for _, c := range n.Children {
		from, to := max(c.From, at), min(c.To, n.To)
		if to > from {
			left -= to - from
			at = to
		}
	}
	return max(0, left)
}

// Each calls f for every span of the story, parents before their children.
func (s *Story) Each(f func(*Node)) {
	stack := slices.Clone(s.Roots)
	slices.Reverse(stack)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		f(n)
		for _, c := range slices.Backward(n.Children) {
			stack = append(stack, c)
		}
	}
}

// Longest returns the span with the most time of its own; nil without spans.
func (s *Story) Longest() (longest *Node) {
	s.Each(func(n *Node) {
		if longest == nil || n.Self > longest.Self {
			longest = n
		}
	})
	return longest
}

// Of returns the span with the most time of its own among those of a statement,
// by its key; nil when the request has none.
func (s *Story) Of(key string) (longest *Node) {
	s.Each(func(n *Node) {
		if n.Statement == key && key != "" && (longest == nil || n.Self > longest.Self) {
			longest = n
		}
	})
	return longest
}
