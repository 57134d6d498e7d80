package main

import (
	"bytes"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
)

func TestDoctorRefusesTwoTargets(t *testing.T) {
	var out, errs bytes.Buffer
	if code := execute(t.Context(), []string{"doctor", "http://a", "http://b"}, &out, &errs); code != cli.ExitUsage {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}
