package diagnose

import "github.com/redline-go/redline/record"

// Pass is what an analyzer sees.
type Pass struct {
	Record  *record.Record
	Anatomy *record.Anatomy // nil when no trace was taken apart
}
