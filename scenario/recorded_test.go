package scenario

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario/scalar"
)

// TestReadRecorded: what a bundle keeps of a plan is read back as it was driven,
// defaults included.
func TestReadRecorded(t *testing.T) {
	for text, want := range map[string]Load{
		`{}`:                  {Connections: DefaultConnections, Duration: DefaultDuration, Timeout: DefaultTimeout},
		`{"load":{"rate":5}}`: {Rate: 5, Connections: DefaultCap, Duration: DefaultDuration, Timeout: DefaultTimeout},
		`{"load":{"rate_per_connection":5,"connections":3,"duration_ns":1000000000,"timeout_ns":1,"grace_ns":2}}`: {
			Rate: 15, PerConnection: 5, Connections: 3, Duration: time.Second, Timeout: 1, Grace: 2},
		`{"load":{"requests":9}}`: {Requests: 9, Connections: DefaultConnections, Duration: scalar.MaxDuration, Timeout: DefaultTimeout},
	} {
		got, err := ReadRecorded(json.RawMessage(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		one, _ := json.Marshal(got.Load)
		two, _ := json.Marshal(want)
		if string(one) != string(two) {
			t.Errorf("%s: %s, want %s", text, one, two)
		}
	}
	if r, err := ReadRecorded(json.RawMessage(`{"load":{"replay":{"file":"a.log"}}}`)); err != nil || !r.Load.Open() ||
		r.Load.Connections != DefaultCap {
		t.Errorf("a replay: %+v, %v", r.Load, err)
	}
	for _, text := range []string{"", "{", `{"load":{"rate":"fast"}}`, `{"thresholds":3}`} {
		if r, err := ReadRecorded(json.RawMessage(text)); err == nil {
			t.Errorf("%q is read as %+v", text, r)
		}
	}
}
