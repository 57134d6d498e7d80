package show

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/redline-go/redline/run"
)

func TestDoctorPrintsWhatIsSeenAndWhatIsNot(t *testing.T) {
	var out bytes.Buffer
	doctor := DoctorCommand()
	doctor.SetOut(&out)
	doctor.SetArgs([]string{"--json"})
	if err := doctor.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	var c run.Checkup
	if err := json.Unmarshal(out.Bytes(), &c); err != nil || c.Schema != run.CheckupSchema || len(c.Sources) == 0 {
		t.Fatalf("%v: %s", err, out.String())
	}
	var text bytes.Buffer
	if err := printCheckup(&text, &c, false, true); err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Sources {
		for _, part := range append(s.Series, s.Name, s.Enable) {
			if !strings.Contains(text.String(), part) {
				t.Errorf("the text lacks %q of %s:\n%s", part, s.Name, text.String())
			}
		}
	}
	for _, check := range c.Machine {
		if !strings.Contains(text.String(), check.Value) {
			t.Errorf("the text lacks %s:\n%s", check.Name, text.String())
		}
	}
}
