package diagnose

import (
	"fmt"

	"github.com/redline-go/redline/anatomy/story"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/statement"
)

// exemplify adds an example to the findings about slow requests: the trace id of
// one, to be looked up wherever traces are kept, and its longest span. It comes
// last in the evidence, because one request proves nothing.
func (p *Pass) exemplify(found []findings.Finding) {
	for i := range found {
		f := &found[i]
		if f.ShareOf != OfTail && f.ShareOf != OfRequest {
			continue
		}
		if e, ok := p.example(f); ok {
			f.Evidence = append(f.Evidence, e)
		}
	}
}

// example finds the slowest request that shows the finding: one with the finding's
// statement, if it has one, otherwise any.
func (p *Pass) example(f *findings.Finding) (findings.Evidence, bool) {
	key := ""
	if f.Where.SQL != "" {
		key = statement.Key(f.Where.SQL)
	}
	for _, s := range p.Stories() {
		at := s.Longest()
		if key != "" {
			at = s.Of(key)
		}
		if at == nil {
			continue
		}
		took := float64(s.Request.Done - s.Request.Sent)
		return Fact(FromSpans, took, Nanosec, "for example, in trace %s request %d took %s, %s of it in %s",
			s.Request.TraceID, s.Request.ID, Span(took), Span(float64(at.Self)), spanName(at)), true
	}
	return findings.Evidence{}, false
}

// spanName names a span and its service.
func spanName(n *story.Node) string {
	name := n.Name
	if n.Service != "" {
		name = fmt.Sprintf("%s (%s)", name, n.Service)
	}
	return name
}
