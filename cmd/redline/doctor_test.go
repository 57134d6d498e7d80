package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
)

func TestDoctorRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"": {"http://a", "http://b"},
		// Only --ceilings reads these.
		"--ceilings compares": {"scenario.yaml"},
		"shop-knee":           {"runs/shop-knee"},
	} {
		var out, errs bytes.Buffer
		code := execute(t.Context(), append([]string{"doctor"}, args...), &out, &errs)
		if code != cli.ExitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%q: exit %d: %s", args, code, errs.String())
		}
	}
}
