package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/demo/ladder"
)

// TestLadderByRequests climbs two rungs for real, bounded by requests, so that no host's
// speed decides.
func TestLadderByRequests(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "lab")
	r := invoke(t, "lab", "ladder", "stack", "--checkout", root, "-o", out,
		"--max-steps", "2", "--requests", "400", "--json")
	if r.code != cli.ExitOK {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	var got ladder.Result
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
		t.Fatalf("stdout is not the result alone: %v\n%.500s", err, r.stdout)
	}
	if got.Schema != ladder.Schema || len(got.Rungs) != 2 || got.Rungs[1].Name != "pool" ||
		got.Next == nil || got.Next.Name != "prepared" {
		t.Fatalf("%+v\n%s", got, r.stderr)
	}
	for _, rung := range got.Rungs {
		if rung.Answers < 100 || rung.Rate <= 0 {
			t.Errorf("%s: %d answers compared, %v requests/s", rung.Name, rung.Answers, rung.Rate)
		}
	}
	for _, c := range []*ladder.Comparison{got.Rungs[1].Against, got.Whole} {
		if c == nil || c.A != "as found" || c.B != "pool" {
			t.Fatalf("compared: %+v", c)
		}
		for i, a := range c.Accounts {
			if a.Made == 0 || a.Fault() != "" {
				t.Errorf("side %d: %+v %s", i, a, a.Fault())
			}
		}
		for _, metric := range []string{ladder.Throughput, ladder.CPU, ladder.P95} {
			change, ok := c.Of(metric)
			if !ok || !(change.A > 0) || !(change.B > 0) || !strings.Contains(change.Text(), "too few pairs") {
				t.Errorf("%s: %+v", metric, change)
			}
		}
	}
	kept, ok, err := ladder.Read(out, ladder.Stack)
	if err != nil || !ok || len(kept.Rungs) != 2 || !slices.Equal(kept.Next.Remedies, []string{"prepared"}) {
		t.Errorf("kept: %t, %v, %+v", ok, err, kept)
	}
}

func TestLadderThatMakesNoSense(t *testing.T) {
	empty, elsewhere := t.TempDir(), t.TempDir()
	root, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	half := ladder.Result{Schema: ladder.Schema, Ladder: ladder.Order, Quick: true}
	if err := half.Keep(elsewhere); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		`redline lab ladder stack takes no argument, and got "shop.yaml" (hint: gateway, load`: {"stack", "shop.yaml"},
		`redline lab ladder has no "stakc" (hint: did you mean stack?)`:                        {"stakc"},
		"inside a checkout":                       {"order", "--checkout", empty},
		"no ladder stack in":                      {"stack", "--checkout", root, "--resume", "-o", empty},
		"other form (hint: --quick)":              {"order", "--checkout", root, "--resume", "--full", "-o", elsewhere},
		"[quick full]":                            {"order", "--quick", "--full"},
		"--requests and --max-steps must not be ": {"order", "--requests", "-1"},
	} {
		r := invoke(t, append([]string{"lab", "ladder"}, args...)...)
		if r.code != cli.ExitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: exit %d\n%s", args, r.code, r.stderr)
		}
	}
}
