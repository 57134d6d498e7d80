// Package slowest describes single slow requests, for readers who have never opened an
// execution trace: what the request did, step by step, what it waited for, and what the
// service and its host did in the same windows.
//
// A description is an example and proves nothing: only findings can show that the slow
// requests have a common cause. It leaves out steps that are too short to matter, and
// says how much time they took.
package slowest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redline-go/redline/anatomy/story"
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
)

// Most is the largest number of requests that are described.
const Most = 5

// Request is one slow request. Times are ns; Begin is in run time.
type Request struct {
	// Name is the request's name in the scenario and ID the number that the load
	// gave it; both are empty if the service does not mark requests.
	Name string `json:"name,omitempty"`
	ID   string `json:"id,omitempty"`
	// Begin is in run time. Took is the time in the service, Latency the time from
	// the intended start; 0 if unknown.
	Begin   time.Duration `json:"begin_ns"`
	Took    time.Duration `json:"took_ns"`
	Latency time.Duration `json:"latency_ns,omitempty"`
	// Lead is a sentence about what took most time.
	Lead  string `json:"lead"`
	Steps []Step `json:"steps"`
	// Meanwhile holds a sentence per event around the request.
	Meanwhile []string `json:"meanwhile"`
	// Spans are the request's spans as received from the services, longest first.
	Spans []string `json:"spans,omitempty"`
}

// Step is one thing that the request did. Neighbouring stretches of the same kind
// are one step.
type Step struct {
	At    time.Duration   `json:"at_ns"` // after the begin
	Took  time.Duration   `json:"took_ns"`
	Times int             `json:"times"` // stretches; more than 1 when they lie among others
	State breakdown.State `json:"state"`
	Text  string          `json:"text"`            // "waited for the network at list.go:41"
	For   string          `json:"for,omitempty"`   // what it waited for, as far as it was followed
	Place string          `json:"place,omitempty"` // the full name of the function that it waited in
	Share float64         `json:"share"`           // of the request
	Rest  bool            `json:"rest,omitempty"`  // the rest of a stretch of time, as one step
}

// Describe returns the slowest requests of the anatomy, at most as many as asked
// for; nil without an anatomy.
func Describe(rec *record.Record, a *breakdown.Anatomy, most int) []Request {
	if a == nil {
		return nil
	}
	t := describer{
		rec: rec, stacks: measured.New(rec, a).Stacks,
		parts: map[partKey]breakdown.Part{}, seen: map[string]record.SlowRequest{}, around: newAround(rec),
	}
	for _, band := range [][]breakdown.Part{a.Tail, a.All, a.Median} {
		for _, p := range band {
			if _, ok := t.parts[partKey{p.State, p.Site}]; !ok {
				t.parts[partKey{p.State, p.Site}] = p
			}
		}
	}
	// Neither list is needed: without them a request has no name and no spans.
	slow, _ := rec.SlowRequests()
	for _, s := range slow {
		t.seen[strconv.FormatInt(s.ID, 10)] = s
	}
	t.stories, _ = story.Describe(rec, maxStories)
	lines := slices.SortedStableFunc(slices.Values(a.Slowest), func(x, y breakdown.Timeline) int { return cmp.Compare(y.Len(), x.Len()) })
	var requests []Request
	for _, line := range lines[:min(most, len(lines))] {
		if line.Len() > 0 {
			requests = append(requests, t.describe(line))
		}
	}
	return requests
}

// maxStories bounds how many requests with spans are read.
const maxStories = 200

// partKey identifies what a request did in a timeline. Timelines have no stacks, so
// the stack comes from a part of the anatomy with the same key.
type partKey struct {
	state breakdown.State
	site  string
}

type describer struct {
	rec     *record.Record
	stacks  *callstack.Index
	parts   map[partKey]breakdown.Part // an example of each state and site, for its stack
	seen    map[string]record.SlowRequest
	stories []story.Story
	around  *around
}

func (t *describer) describe(line breakdown.Timeline) Request {
	out := Request{ID: line.ID, Begin: line.From, Took: line.Len()}
	if s, ok := t.seen[line.ID]; ok && line.ID != "" {
		out.Name, out.Latency = s.Request, s.Done-s.Intended
	}
	out.Steps = t.steps(line)
	out.Lead = lead(out)
	out.Meanwhile = t.around.during(line.Span)
	for i := range t.stories {
		if strconv.FormatInt(t.stories[i].Request.ID, 10) == line.ID {
			out.Spans = spans(&t.stories[i])
		}
	}
	return out
}

// lead names the kind of step that took longest, all of its steps together: forty
// short waits for the database matter more than one long system call.
func lead(t Request) string {
	type sum struct {
		took  time.Duration
		times int
		text  string
	}
	var sums []sum
	for _, s := range t.Steps {
		if s.Rest {
			continue
		}
		i := slices.IndexFunc(sums, func(x sum) bool { return x.text == s.Text })
		if i < 0 {
			i, sums = len(sums), append(sums, sum{text: s.Text})
		}
		sums[i].took, sums[i].times = sums[i].took+s.Took, sums[i].times+s.Times
	}
	if len(sums) == 0 {
		return "It did many short things."
	}
	most := slices.MaxFunc(sums, func(a, b sum) int { return cmp.Compare(a.took, b.took) })
	often := ""
	if most.times > 1 {
		often = fmt.Sprintf(" (%d times)", most.times)
	}
	return fmt.Sprintf("For %s of %s (%s) it %s%s.", diagnose.Span(float64(most.took)), diagnose.Span(float64(t.Took)),
		diagnose.Percent(float64(most.took)/float64(t.Took)), most.text, often)
}

// spans describes the longest spans of a request.
func spans(s *story.Story) []string {
	const most = 5
	var nodes []*story.Node
	s.Each(func(n *story.Node) { nodes = append(nodes, n) })
	slices.SortStableFunc(nodes, func(a, b *story.Node) int { return cmp.Compare(b.Self, a.Self) })
	var words []string
	for _, n := range nodes[:min(most, len(nodes))] {
		name := n.Name
		if n.Service != "" {
			name += " (" + n.Service + ")"
		}
		words = append(words, fmt.Sprintf("%s took %s, %s of it by itself", name,
			diagnose.Span(float64(n.Took())), diagnose.Span(float64(n.Self))))
	}
	return words
}
