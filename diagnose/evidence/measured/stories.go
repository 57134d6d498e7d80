package measured

import "github.com/redline-go/redline/anatomy/story"

// mostStories bounds the requests whose spans are read.
const mostStories = 200

// Stories returns the slowest requests that carried a trace id and have spans,
// slowest first; nil when the run received none, or none can be read.
func (p *Run) Stories() []story.Story {
	return p.stories.Get(func() []story.Story {
		list, _ := story.Describe(p.Record, mostStories)
		return list
	})
}
