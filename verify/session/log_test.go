package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/verify"
)

// sessionWith makes a session's directory whose blocks are text.
func sessionWith(t testing.TB, blocks string) (dir string, h Header) {
	t.Helper()
	dir, h = filepath.Join(t.TempDir(), "s"), Header{A: "a", B: "b", Plan: []byte(`{}`), Seed: 7}
	log, err := Create(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
	if err := os.WriteFile(filepath.Join(dir, blocksFile), []byte(blocks), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, h
}

const wholeLine = `{"kind":"ab","A":{"values":{"throughput":9},"errors":0},"B":{"values":{"throughput":8},"errors":0}}` + "\n"

func TestResumeOfDamagedSessions(t *testing.T) {
	for name, c := range map[string]struct {
		blocks string
		pairs  int
		want   string // of the error; empty for none
	}{
		"nothing measured":        {"", 0, ""},
		"torn at the end":         {wholeLine + wholeLine + `{"kind":"ab","A":{"va`, 2, ""},
		"damaged in the middle":   {wholeLine + "\x00\x00\n" + wholeLine, 0, "blocks.jsonl:2: "},
		"a line without end":      {wholeLine + strings.Repeat("x", maxBlock+1), 0, "blocks.jsonl:2: a line of more than"},
		"impossible latencies":    {`{"kind":"ab","A":{"latency":{"-9":1,"9000000000000":1}},"B":{}}` + "\n", 0, "blocks.jsonl:1: invalid latencies"},
		"more than a session has": {strings.Repeat("{}\n", maxBlocks+1), 0, "more than 10000 lines"},
	} {
		dir, h := sessionWith(t, c.blocks)
		log, seed, err := Resume(dir, h)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			if kept, _ := os.ReadFile(filepath.Join(dir, blocksFile)); string(kept) != c.blocks {
				t.Errorf("%s: what was there is gone", name)
			}
			continue
		}
		if err != nil || seed != 7 || log.count(compared) != c.pairs {
			t.Errorf("%s: %d pairs, seed %d, %v", name, log.count(compared), seed, err)
		}
	}
}

func TestResumeOfAnotherSchema(t *testing.T) {
	dir, h := sessionWith(t, "")
	path := filepath.Join(dir, File)
	for text, want := range map[string]string{
		`{"schema":"redline.session/9","a":"a","b":"b"}`: `schema "redline.session/9" is not`,
		`{"a":"a"`: File + ": unexpected end",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Resume(dir, h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if err := os.Truncate(path, 1<<30); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Resume(dir, h); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a session.json of a gigabyte: %v", err)
	}
	if _, _, err := Resume(t.TempDir(), h); err == nil || !strings.Contains(err.Error(), "holds no session") {
		t.Errorf("a directory without one: %v", err)
	}
}

// TestResumeOfAFinishedSession: its error rate is spent, so that it is not continued; one that was interrupted is, with blocks
// of the same length.
func TestResumeOfAFinishedSession(t *testing.T) {
	dir, h := sessionWith(t, wholeLine)
	log, _, err := Resume(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Finish(verify.Result{Schema: verify.Schema, Verdict: verify.Inconclusive}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Resume(dir, h); !errors.Is(err, ErrFinished) || !strings.Contains(err.Error(), "another -o") {
		t.Errorf("a finished session goes on: %v", err)
	}
	if kept, err := ReadSession(dir); err != nil || len(kept.Pairs) != 1 || len(kept.Blocks) != 1 {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestResumeOfAnotherMeasurement: blocks of another length or of another binary are not mixed. Early sessions noted neither.
func TestResumeOfAnotherMeasurement(t *testing.T) {
	for _, c := range []struct {
		then, now Header
		differs   string
	}{
		{Header{Block: 2 * time.Second}, Header{Block: 2 * time.Second}, ""},
		{Header{Block: 2 * time.Second}, Header{Block: time.Second}, "--block"},
		{Header{Sums: [2]string{"x", "y"}}, Header{Sums: [2]string{"x", "y"}}, ""},
		{Header{Sums: [2]string{"x", "y"}}, Header{Sums: [2]string{"z", "y"}}, "binary of side a"},
		{Header{Sums: [2]string{"", "y"}}, Header{Sums: [2]string{"", "z"}}, "binary of side b"},
		{Header{}, Header{Block: time.Second, Sums: [2]string{"x", "y"}}, ""},
	} {
		dir, h := filepath.Join(t.TempDir(), "s"), c.then
		h.Plan, c.now.Plan = []byte(`{}`), []byte(`{}`)
		log, err := Create(dir, h)
		if err != nil {
			t.Fatal(err)
		}
		log.Close()
		log, _, err = Resume(dir, c.now)
		refused := err != nil && strings.Contains(err.Error(), "its "+c.differs+" is not that")
		if refused != (c.differs != "") || err != nil && !refused {
			t.Errorf("%+v resumed with %+v: %v", c.then, c.now, err)
		}
		log.Close()
	}
}

// FuzzBlocks reads arbitrary logs: nothing breaks, and exactly the whole blocks are read
// back.
func FuzzBlocks(f *testing.F) {
	f.Add([]byte(wholeLine + wholeLine))
	f.Add([]byte(wholeLine + `{"kind":"aa"`))
	f.Add([]byte("{\"kind\":\"b\",\"B\":{\"latency\":{\"-5\":3}}}\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir, _ := sessionWith(t, string(data))
		log, err := open(dir)
		if err != nil {
			return
		}
		log.Close()
		left, err := os.ReadFile(filepath.Join(dir, blocksFile))
		if err != nil || len(left) > len(data) || strings.Contains(string(data[len(left):]), "\n") {
			t.Fatalf("%q is kept of %q, %v", left, data, err)
		}
		for _, block := range log.Blocks() {
			block.Latency.Quantile(0.5)
		}
	})
}

// TestEarlier: a session is forecast only from sessions of its scenario and machine.
func TestEarlier(t *testing.T) {
	dir := t.TempDir()
	own := Header{A: "a", B: "b", Plan: []byte(`{"load":{}}`), Host: record.Host{CPUs: 2}}
	other, elsewhere := own, own
	other.Plan, elsewhere.Host.CPUs = []byte(`{"load":{"rate":9}}`), 64
	for name, h := range map[string]Header{"1-own": own, "2-other": other, "3-elsewhere": elsewhere, "4-own": own} {
		log, err := Create(filepath.Join(dir, name), h)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			p := verify.Pair{Took: 5 * time.Second}
			p.A.Values = map[string]float64{"cpu_per_request": float64(name[0])}
			if err := log.add(compared, n, p); err != nil {
				t.Fatal(err)
			}
		}
		log.Close()
	}
	pairs, each := Earlier(filepath.Join(dir, "5-now"), own)
	if len(pairs) != 2 || each != 5*time.Second || len(pairs[0]) != 3 || pairs[0][0].A.Values["cpu_per_request"] != '4' {
		t.Errorf("%d sessions, %v a pair: %+v", len(pairs), each, pairs)
	}
	if pairs, each := Earlier(filepath.Join(dir, "4-own"), other); len(pairs) != 1 || each == 0 {
		t.Errorf("another scenario: %+v", pairs)
	}
	if pairs, each := Earlier(filepath.Join(dir, "none", "x"), own); pairs != nil || each != 0 {
		t.Errorf("nothing lies there: %+v", pairs)
	}
}
