package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/histogram"
)

// TestLedgerIsPrinted: text, Markdown and the page account for the whole, with
// the entries beyond the named ones summed, and with what nobody is named for.
func TestLedgerIsPrinted(t *testing.T) {
	s := &record.Summary{State: record.Complete, Generator: record.Generator{Valid: true}, Ledger: &findings.Ledger{
		RequestTime: []findings.LedgerEntry{
			{Who: "database", Share: 0.5}, {Who: "on CPU", Share: 0.2}, {Who: "a", Share: 0.1}, {Who: "b", Share: 0.06},
			{Who: "c", Share: 0.05}, {Who: "d", Share: 0.03}, {Who: "e", Share: 0.02}, {Who: findings.Unattributed, Share: 0.04},
		},
		CPU:   []findings.LedgerEntry{{Who: "kernel", Share: 1}},
		Shape: "Requests take 1.2 ms, 20 % of it on CPU.",
	}, CPU: &findings.CPUUse{CPUs: 2, Busy: 1, Target: 0.04}}
	var text, md bytes.Buffer
	if err := Text(&text, s, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&md, s); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"text": text.String(), "Markdown": md.String(),
		"page": strings.Join(HeadlineOf(s).Ledger, " ")} {
		got = strings.Join(strings.Fields(got), " ")
		for _, want := range []string{"Request time by kind: 50 % database, 20 % on CPU,",
			"5.0 % everything else, 4.0 % unattributed.", "Service's CPU (0.04 of 2 CPUs): 100 % kernel.", "Requests take 1.2 ms"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, got)
			}
		}
	}
}

// TestPathIsPrinted: text, Markdown and the page say where a request's time goes,
// each way with its share, before the ledger; without a trace they say why not.
func TestPathIsPrinted(t *testing.T) {
	s := &record.Summary{State: record.Complete, Generator: record.Generator{Valid: true}, Ledger: &findings.Ledger{
		RequestTime: []findings.LedgerEntry{{Who: "channel or worker in store.(*Store).Get", Share: 1}},
		Path: []findings.LedgerPath{
			{Share: 0.87, Text: "behind one goroutine, store.(*Store).loop, busy 99 % of the time: 61 % running store.(*Store).checkConsistency (store.go:88: sort.Slice 38 %)"},
			{Share: 0.13, Text: "waiting for a CPU\x1b[31m"},
		},
	}}
	var text, md bytes.Buffer
	if err := Text(&text, s, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&md, s); err != nil {
		t.Fatal(err)
	}
	h := HeadlineOf(s)
	page := ""
	for i := range h.Path {
		page += h.Shares[i] + " " + h.Path[i] + "\n"
	}
	for name, got := range map[string]string{"text": text.String(), "Markdown": md.String(), "page": page} {
		if strings.ContainsRune(got, 0x1b) {
			t.Errorf("%s passes an escape of the target's on", name)
		}
		got = strings.Join(strings.Fields(got), " ")
		for _, want := range []string{"87 % behind one goroutine, store.(", "61 % running store.(", "13 % waiting for a CPU"} {
			if name == "Markdown" {
				got = strings.ReplaceAll(got, `\`, "")
			}
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, got)
			}
		}
	}
	s.Ledger = &findings.Ledger{CPU: []findings.LedgerEntry{{Who: "kernel", Share: 1}},
		PathWhy: "no execution trace: --pprof was not given"}
	text.Reset()
	if err := Text(&text, s, TextOptions{}); err != nil || !strings.Contains(text.String(), "unknown. No execution trace: --pprof") {
		t.Errorf("%v; the reason is not printed:\n%s", err, text.String())
	}
}

// TestLimitOfRunnableRequests: connections do not limit a load whose requests stand
// and wait for a CPU.
func TestLimitOfRunnableRequests(t *testing.T) {
	s := &record.Summary{State: record.Complete, Generator: record.Generator{Valid: true},
		Load: record.LoadSummary{Model: "closed", Connections: 32, Requests: 1000, Rate: 100, Service: histogram.Quantiles{Mean: 30e6}},
		Ledger: &findings.Ledger{RequestTime: []findings.LedgerEntry{{Who: "waiting for a CPU", Share: 0.88},
			{Who: "on CPU", Share: 0.12}}}}
	_, limit := nothing(s)
	if !strings.Contains(limit, "limited by the CPUs") || !strings.Contains(limit, "88 %") ||
		strings.Contains(limit, "limited by its 32 connections") {
		t.Errorf("limit: %q", limit)
	}
	s.Ledger.RequestTime[0].Share, s.Ledger.RequestTime[1].Share = 0.1, 0.9
	if _, limit := nothing(s); !strings.Contains(limit, "limited by its 32 connections") {
		t.Errorf("limit: %q", limit)
	}
}

// TestNothingFoundNeedsAHealthyShape: without a finding, a run passes for a healthy one only if
// its ledger shows that, and the headline names the shape either way.
func TestNothingFoundNeedsAHealthyShape(t *testing.T) {
	entries := func(pairs ...any) (list []findings.LedgerEntry) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, findings.LedgerEntry{Who: pairs[i].(string), Share: pairs[i+1].(float64)})
		}
		return list
	}
	cpu := entries("main.parse", 0.3, "kernel", 0.3, "runtime: scheduler", 0.4)
	full := &findings.CPUUse{CPUs: 2, Busy: 1.98, Full: true, Target: 1.5}
	const nothingFound = "Nothing found that stops it."
	for name, c := range map[string]struct {
		ledger      *findings.Ledger
		cpu         *findings.CPUUse
		title, lead string
	}{
		"one wait": {&findings.Ledger{RequestTime: entries("database", 0.7, findings.OnCPU, 0.3), CPU: cpu,
			Most: "70 % of request time is one wait: database"}, nil,
			"No cause found: 70 % of request time is one wait: database.", ""},
		"one function": {&findings.Ledger{RequestTime: entries(findings.QueuedForCPU, 0.9, findings.OnCPU, 0.1), CPU: cpu,
			Most: "77 % of the service's CPU is below (*Index).Scan (index.go:117)"}, full,
			"No cause found: 77 % of the service's CPU is below (*Index).Scan (index.go:117).", ""},
		"no ledger":        {nil, full, "No cause found: where requests' time goes was not measured.", ""},
		"no trace, idle":   {&findings.Ledger{CPU: cpu}, nil, "No cause found: where requests' time goes was not measured.", ""},
		"spread, no trace": {&findings.Ledger{CPU: cpu}, full, nothingFound, "No function takes most of the CPU."},
		"spread": {&findings.Ledger{RequestTime: entries(findings.QueuedForCPU, 0.7, findings.OnCPU, 0.3), CPU: cpu}, full,
			nothingFound, "waited for one for 70 % of their time. No function takes most of the CPU."},
		"spread, a small part": {&findings.Ledger{RequestTime: entries(findings.QueuedForCPU, 0.7, findings.OnCPU, 0.3), CPU: cpu,
			Largest: "JSON, most of it below web.Show (web.go:12), 14 % of the service's CPU: at most 1.16x (cpu-json)"}, full,
			nothingFound, "could remove is JSON, most of it below web.Show (web.go:12), 14 % of the service's CPU: at most 1.16x"},
		"spread, short queue": {&findings.Ledger{RequestTime: entries(findings.OnCPU, 0.6, findings.QueuedForCPU, 0.4), CPU: cpu}, full,
			nothingFound, "Requests run or wait for a CPU for 100 % of their time, and no function takes most of the CPU."},
		"work": {&findings.Ledger{RequestTime: entries(findings.OnCPU, 0.8, "database", 0.2), CPU: cpu}, nil, nothingFound,
			"Requests run or wait for a CPU for 80 % of their time."},
		"divided": {&findings.Ledger{RequestTime: entries("database", 0.4, "HTTP upstream", 0.4, findings.OnCPU, 0.2), CPU: cpu}, nil,
			nothingFound, "No single wait takes most of the requests' time."},
		"client": {&findings.Ledger{RequestTime: entries(findings.ForClient, 0.9, findings.OnCPU, 0.1), CPU: cpu}, nil, nothingFound,
			"Requests wait for their clients for 90 % of their time."},
		"long poll": {&findings.Ledger{RequestTime: entries(findings.ForAnEvent, 0.9, findings.OnCPU, 0.1), CPU: cpu}, nil, nothingFound,
			"Requests wait for an event, as intended, for 90 % of their time."},
	} {
		s := &record.Summary{State: record.Complete, Generator: record.Generator{Valid: true}, CPU: c.cpu, Ledger: c.ledger,
			Load: record.LoadSummary{Model: "closed", Connections: 32, Requests: 1000, Rate: 100, Service: histogram.Quantiles{Mean: 30e6}}}
		h := HeadlineOf(s)
		if h.Title != c.title || !strings.Contains(h.Lead, c.lead) {
			t.Errorf("%s: %q, %q", name, h.Title, h.Lead)
		}
		s.NotJudged = make([]findings.NotJudged, 3)
		if h := HeadlineOf(s); !strings.Contains(h.Title, " 3 causes were not judged") {
			t.Errorf("%s, with causes that were not judged: %q", name, h.Title)
		}
	}
}

// TestHintsDoNotHideTheLedger: where findings are hints and no more, and one thing has most of the time,
// every output says that first. A finding of more confidence says it better.
func TestHintsDoNotHideTheLedger(t *testing.T) {
	const want = "No cause is certain: 77 % of the service's CPU is below Scan."
	s := &record.Summary{State: record.Complete, Generator: record.Generator{Valid: true},
		Load:     record.LoadSummary{Model: "closed", Connections: 32, Requests: 1000, Rate: 100},
		Findings: []findings.Finding{{Cause: "lock", Title: "A lock", Confidence: findings.Low}, {Cause: "sleep", Title: "A sleep"}}}
	s.Findings[1].Confidence = findings.Medium
	s.Ledger = &findings.Ledger{CPU: []findings.LedgerEntry{{Who: "Scan", Share: 1}}, Most: "77 % of the service's CPU is below Scan"}
	outputs := func() map[string]string {
		var text, md strings.Builder
		if err := errors.Join(Text(&text, s, TextOptions{Width: 120}), Markdown(&md, s)); err != nil {
			t.Fatal(err)
		}
		return map[string]string{"text": text.String(), "Markdown": md.String(), "page": HeadlineOf(s).Title, "short": short(s)}
	}
	for name, got := range outputs() {
		if strings.Contains(got, want) {
			t.Errorf("%s has it beside a sure finding:\n%s", name, got)
		}
	}
	for i := range s.Findings {
		s.Findings[i].Confidence = findings.Low
	}
	for name, got := range outputs() {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %q:\n%s", name, want, got)
		}
	}
}
