package main

import (
	"io"
	"os"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record/disk"
)

// debugVariable names the environment variable that shows where a panic came from.
const debugVariable = "REDLINE_DEBUG"

// crashed reports an unexpected panic: a bug, which a damaged bundle
// brought to light if one was being read. The exit code is then that of an input
// error, and otherwise that of a measurement that failed.
func crashed(stderr io.Writer, p any, stack []byte) int {
	code, about := cli.ExitUndecided, "this is "+assess.Bug
	if file := disk.LastOpened(); file != "" {
		code = cli.ExitUsage
		about = "the bundle is damaged, or this is " + assess.Bug + "; the last file it read is " + file
	}
	hint := "(hint: " + debugVariable + "=1 shows where)"
	if os.Getenv(debugVariable) != "" {
		hint = "\n" + string(stack)
	}
	inert.Fprintf(stderr, "redline: %s: %v %s\n", about, p, inert.Block(hint))
	return code
}
