package scenario

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redline-go/redline/scenario/criteria"
)

// Recorded is the part of a bundle's plan that readers of bundles need. Secrets,
// rows and the target's environment never reach the disk, so it cannot be run
// again.
type Recorded struct {
	Name       string               `json:"name"`
	Load       Load                 `json:"load"` // defaults filled in
	Thresholds []criteria.Threshold `json:"thresholds"`
}

// ReadRecorded decodes the plan of a bundle (run.json, scenario). Every reader of
// bundles goes through it, so that a default means the same to all of them. A
// plan that is missing or does not decode is an error.
func ReadRecorded(redacted json.RawMessage) (Recorded, error) {
	if len(redacted) == 0 {
		return Recorded{}, errors.New("the bundle holds no plan")
	}
	var r Recorded
	if err := json.Unmarshal(redacted, &r); err != nil {
		return Recorded{}, fmt.Errorf("the recorded plan cannot be read: %w", err)
	}
	r.Load = r.Load.WithDefaults()
	return r, nil
}
