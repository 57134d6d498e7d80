// Package tuning sets the runtime up for where the service runs.
package tuning

import "runtime/debug"

// Profile is a set of values.
type Profile struct{ GCPercent int }

// Profiles are those of our clusters. The small pods once were killed for using too much memory.
var Profiles = map[string]Profile{
	"default":   {GCPercent: 100},
	"small-pod": {GCPercent: 4},
}

// Apply applies the profile.
func (p Profile) Apply() { debug.SetGCPercent(p.GCPercent) }
