package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/redline-go/redline/run"
)

func TestDoctorPrintsWhatIsSeenAndWhatIsNot(t *testing.T) {
	var out, errs bytes.Buffer
	if code := execute(t.Context(), []string{"doctor", "--json"}, &out, &errs); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs.String())
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

func TestDoctorRefusesTwoTargets(t *testing.T) {
	var out, errs bytes.Buffer
	if code := execute(t.Context(), []string{"doctor", "http://a", "http://b"}, &out, &errs); code != exitUsage {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}
