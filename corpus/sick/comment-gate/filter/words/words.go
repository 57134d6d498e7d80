// Package words is a filter of words that are not wanted.
package words

import "github.com/redline-go/redline/corpus/sick/comment-gate/filter"

func init() {
	filter.Register("words", func(o filter.Options) (filter.Filter, error) {
		f := blocked{}
		for _, w := range o.Blocked {
			f[w] = struct{}{}
		}
		return f, nil
	})
}

type blocked map[string]struct{}

func (blocked) Name() string { return "words" }

func (b blocked) Score(c *filter.Comment) float64 {
	n := 0
	for _, w := range c.Words {
		if _, ok := b[w]; ok {
			n++
		}
	}
	return min(1, float64(n)/3)
}
