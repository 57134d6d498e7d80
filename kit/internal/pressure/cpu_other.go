//go:build !unix

package pressure

import "time"

// processTime is not known here: the process counts as idle.
func processTime() time.Duration { return 0 }
