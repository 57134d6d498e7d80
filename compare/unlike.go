package compare

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/verify/baseline"
)

// loadParts are the parts of a scenario that define the service's work.
var loadParts = []string{"load", "requests", "protocol", "tls", "grpc"}

// unlike gives the reasons why the difference of two runs may come from something other than
// the service.
func unlike(a, b record.Run) (warnings []string) {
	if machines := baseline.MachineDifferences(a.Host, b.Host); len(machines) > 0 {
		warnings = append(warnings, "the runs are of different machines: "+baseline.Differing(machines))
	}
	if parts := scenarioDiffers(a.Scenario, b.Scenario); len(parts) > 0 {
		warnings = append(warnings, "the runs are of different scenarios: not the same "+strings.Join(parts, ", "))
	}
	if a.Target.GoVersion != b.Target.GoVersion {
		warnings = append(warnings, "the services are built with different versions of Go: "+a.Target.GoVersion+" and "+b.Target.GoVersion)
	}
	for i, r := range []record.Run{a, b} {
		if r.State != record.Complete {
			warnings = append(warnings, "run "+"ab"[i:i+1]+" is not whole: "+r.Why)
		}
	}
	return warnings
}

// scenarioDiffers names the parts of two redacted plans that differ in the work that the
// service had to do.
func scenarioDiffers(a, b json.RawMessage) (differing []string) {
	var one, two map[string]json.RawMessage
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &two) != nil {
		if !bytes.Equal(a, b) {
			return []string{"plan"}
		}
		return nil
	}
	return slices.DeleteFunc(slices.Clone(loadParts), func(name string) bool { return sameJSON(one[name], two[name]) })
}

// sameJSON compares two JSON texts by content.
func sameJSON(a, b json.RawMessage) bool {
	var one, two bytes.Buffer
	if json.Compact(&one, a) != nil || json.Compact(&two, b) != nil {
		return bytes.Equal(a, b)
	}
	return bytes.Equal(one.Bytes(), two.Bytes())
}

// atARate reports whether a run's load was an open loop.
func atARate(r record.Run) bool {
	plan, err := scenario.ReadRecorded(r.Scenario)
	return err == nil && plan.Load.Open()
}
