package anatomy_test

import (
	"io"
	"log"
)

// quiet is a server's error log that keeps the tests' output readable: handlers
// here panic on purpose.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
