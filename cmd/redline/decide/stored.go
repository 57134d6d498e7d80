package decide

import (
	"io"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/baseline"
)

// baseline makes a baseline of side b's blocks.
func (c *comparison) baseline(blocks []verify.Block) *baseline.Baseline {
	return &baseline.Baseline{Saved: c.header.Begun, Redline: c.header.Redline, Side: c.header.B, Commit: c.header.Commit,
		Circumstances: c.now, Blocks: blocks}
}

// storeBaseline stores the launches of side b as a baseline, unless no later session may be
// compared with them: those of an invalid session, and those of a version that is worse
// than a counterpart, which would let the service become slower step by step. The
// verdict is that of all sessions together.
func (f *compareFlags) storeBaseline(stderr io.Writer, r compared) error {
	note := cli.NewProgress(stderr).Note
	switch {
	case f.saveBaseline == "":
		return nil
	case r.launches == nil:
		note("%s is not written: nothing was measured", f.saveBaseline)
		return nil
	case r.Verdict == verify.Invalid || r.Verdict == verify.Regression:
		note("%s is not written: the verdict is %s", f.saveBaseline, r.Verdict)
		return nil
	}
	if err := r.launches.Save(f.saveBaseline); err != nil {
		return err
	}
	note("baseline of %d launches saved in %s", len(r.launches.Blocks), f.saveBaseline)
	return nil
}
