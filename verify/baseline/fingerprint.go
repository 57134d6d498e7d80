package baseline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
)

// Difference is a field in which two measurements' circumstances differ.
type Difference struct {
	Field string `json:"field"`
	A     string `json:"a"`
	B     string `json:"b"`
}

func (d Difference) String() string { return fmt.Sprintf("%s: %q and %q", d.Field, d.A, d.B) }

// memoryTolerance is the share by which two machines' memory may differ: the kernel
// reserves a little more or less from boot to boot.
const memoryTolerance = 0.01

// MachineDifferences returns the fields in which two machines differ; values
// that are measured on either may be compared when there is none.
func MachineDifferences(a, b record.Host) (out []Difference) {
	for _, f := range []struct{ field, a, b string }{
		{"operating system", a.OS, b.OS}, {"architecture", a.Arch, b.Arch}, {"kernel", a.Kernel, b.Kernel},
		{"CPU model", a.CPUModel, b.CPUModel}, {"CPUs", fmt.Sprint(a.CPUs), fmt.Sprint(b.CPUs)},
	} {
		if f.a != f.b {
			out = append(out, Difference{f.field, f.a, f.b})
		}
	}
	if off := a.Memory - b.Memory; float64(max(off, -off)) > memoryTolerance*float64(max(a.Memory, b.Memory)) {
		out = append(out, Difference{"memory", notation.Size(float64(a.Memory)), notation.Size(float64(b.Memory))})
	}
	return out
}

// Differing lists differences in one line, with both values of each.
func Differing(list []Difference) string {
	texts := make([]string, len(list))
	for i, d := range list {
		texts[i] = d.String()
	}
	return strings.Join(texts, "; ")
}

// notMeasured are the parts of a plan that do not change the measurement.
var notMeasured = []string{"name", "thresholds", "verify", "export", "redact", "warnings"}

// ScenarioName returns the name of a redacted plan; empty if it has none.
func ScenarioName(redacted json.RawMessage) string {
	plan, err := scenario.ReadRecorded(redacted)
	if err != nil {
		return ""
	}
	return plan.Name
}

// ScenarioHash returns a fingerprint of a redacted plan's actions on a service: its
// load, requests and target, and the length of a launch where that is not the
// plan's own (0 otherwise). Names, thresholds and margins are not in it, nor are
// the parts that no record holds: secrets, feeders' rows and the target's
// environment.
func ScenarioHash(redacted json.RawMessage, block time.Duration) (string, error) {
	var plan map[string]any
	if err := json.Unmarshal(redacted, &plan); err != nil {
		return "", fmt.Errorf("scenario: %w", err)
	}
	for _, part := range notMeasured {
		delete(plan, part)
	}
	if target, ok := plan["target"].(map[string]any); ok {
		delete(target, "pid")
	}
	sorted, err := json.Marshal(plan) // maps marshal by sorted key
	if err != nil {
		return "", fmt.Errorf("scenario: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(sorted, "\n%d", block))
	return hex.EncodeToString(sum[:8]), nil
}
