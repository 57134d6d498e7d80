// Package links is a filter of comments that are mostly links.
package links

import (
	"strings"

	"github.com/redline-go/redline/corpus/sick/comment-gate/filter"
)

func init() {
	filter.Register("links", func(filter.Options) (filter.Filter, error) { return links{}, nil })
}

type links struct{}

func (links) Name() string { return "links" }

func (links) Score(c *filter.Comment) float64 {
	n := strings.Count(c.Text, "http://") + strings.Count(c.Text, "https://")
	if len(c.Words) == 0 {
		return 0
	}
	return min(1, 5*float64(n)/float64(len(c.Words)))
}
