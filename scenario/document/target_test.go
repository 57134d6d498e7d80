package document

import (
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario"
)

func TestBuildFlagsAndFolder(t *testing.T) {
	want := []string{"-tags=sqlite", "-ldflags=-s -w"}
	for name, target := range map[string]string{
		"a list": `{build: ./svc, dir: etc, build_flags: [-tags=sqlite, "-ldflags=-s -w"]}`,
		"text":   `{build: ./svc, dir: etc, build_flags: "-tags=sqlite -ldflags='-s -w'"}`,
	} {
		plan, err := parseTarget(target)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(plan.Target.BuildFlags, want) || plan.Target.Dir != "etc" {
			t.Errorf("%s: %q in %q", name, plan.Target.BuildFlags, plan.Target.Dir)
		}
		if err := plan.Apply(scenario.Flags{Exec: "./svc", Dir: "other"}); err != nil || plan.Target.BuildFlags != nil ||
			plan.Target.Dir != "other" {
			t.Errorf("%s: a command instead keeps %q in %q: %v", name, plan.Target.BuildFlags, plan.Target.Dir, err)
		}
	}
	for target, want := range map[string]string{
		"{exec: ./svc, build_flags: -v}": "build_flags belong to build",
		"{pid: 1, dir: etc}":             "dir belongs to exec or build",
	} {
		_, err := parseTarget(target)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", target, err)
		}
	}
	plan, err := scenario.FromURL("http://127.0.0.1/", scenario.Flags{Build: "./svc", BuildFlags: "-tags sqlite", Dir: "etc"})
	if err != nil || !slices.Equal(plan.Target.BuildFlags, []string{"-tags", "sqlite"}) || plan.Target.Dir != "etc" {
		t.Errorf("from flags: %+v, %v", plan, err)
	}
}

func parseTarget(target string) (*scenario.Plan, error) {
	return Parse(nil, "x.yaml", []byte("target: "+target+"\nrequests: [{get: \"http://127.0.0.1/\"}]\n"))
}
