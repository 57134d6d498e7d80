package assess

import (
	"github.com/redline-go/redline/diagnose/explain"
	"github.com/redline-go/redline/diagnose/suite"
)

// Causes returns the description of every cause that redline can name, in the
// order of judgement.
func Causes() explain.Causes { return explain.Of(suite.All()) }
