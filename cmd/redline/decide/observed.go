package decide

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/verify/session"
	"github.com/redline-go/redline/web"
)

// observe measures each side once more, with profiles and traces, for the page that shows where they differ;
// nil, with a note, if that fails. It runs after the decision and has no part in it.
func (c *comparison) observe(sides ...session.Side) *[2]web.Observed {
	var out [2]web.Observed
	for i, s := range sides {
		c.progress.Step(fmt.Sprintf("side %s with profiles and traces, for the page only; it does not count for the "+
			"decision", s.Name))
		dir := filepath.Join(c.f.Out, "observed-"+s.Name)
		_, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) { // a resumed session may have it
			err = c.launcher.Observe(c.ctx, s, dir)
		}
		if err == nil {
			err = c.ctx.Err()
		}
		if err == nil {
			out[i].Record, out[i].Summary, err = assess.Bundle(dir)
		}
		if err != nil {
			c.progress.Note("the page has no differential flame graphs: side %s was not observed: %v", s.Name, err)
			return nil
		}
	}
	return &out
}
