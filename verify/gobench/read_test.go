package gobench

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	var f filter
	text := "goos: linux\npkg: shop\nBenchmarkA-8\nBenchmarkA-8 \t 100\t 20 ns/op\t 3 B/op\nhello BenchmarkNo 1 1 ns/op\n" +
		"BenchmarkB 5 logged 1 ns/op\n    --- FAIL: BenchmarkC/small\n--- FAIL: BenchmarkC\nBenchmarkD 1 NaN ns/op\n" +
		"Unit orders/s better=lower\nBenchmarkE 0 5 ns/op\nBenchmarkF 7 9 ns/op 4 ns/op"
	for _, chunk := range []int{1, 7, len(text)} {
		f = filter{}
		for c := range slices.Chunk([]byte(text), chunk) {
			if n, err := f.Write(c); n != len(c) || err != nil {
				t.Fatal(n, err)
			}
		}
		out := f.read()
		if len(out.results) != 2 || string(out.results[0].Name) != "A-8" ||
			string(out.results[1].Name) != "F" || len(out.results[1].Values) != 1 {
			t.Fatalf("chunks of %d: %+v", chunk, out.results)
		}
		if !slices.Equal(out.failed, []string{"C/small", "C"}) || out.units.GetBetter("orders/s") != -1 ||
			out.results[0].GetConfig("pkg") != "shop" {
			t.Errorf("chunks of %d: %+v", chunk, out)
		}
	}
}

func TestProcs(t *testing.T) {
	for _, c := range []struct {
		printed, name string
		n             int
		ok            bool
	}{
		{"A", "A", 1, true}, {"A-8", "A", 8, true}, {"A-8", "A-8", 1, true}, {"A-8-2", "A-8", 2, true},
		{"AB", "A", 0, false}, {"A-", "A", 0, false}, {"A-x", "A", 0, false}, {"A-0", "A", 0, false},
		{"A/b-2", "A", 0, false}, {"A-1234567", "A", 0, false},
	} {
		if n, ok := procs(c.printed, c.name); ok != c.ok || ok && n != c.n {
			t.Errorf("%s of %s: %d %v", c.printed, c.name, n, ok)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("pkg: shop\nBenchmarkA-8 100 20 ns/op 3 B/op\n"), 5)
	f.Add([]byte("Unit x/s better=higher\nBenchmark 1 -Inf x/s 1 ns/op\n--- FAIL: BenchmarkA\n"), 1)
	f.Add([]byte("Benchmark\xff\xfe 9223372036854775808 1e999 ns/op"), 3)
	f.Add([]byte("BenchmarkA 1 1 "+strings.Repeat("u", 2*mostLine)), 4096)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		if size < 1 {
			return
		}
		var out filter
		for c := range slices.Chunk(data, size) {
			if n, err := out.Write(c); n != len(c) || err != nil {
				t.Fatal(n, err)
			}
		}
		if len(out.partial) > mostLine || out.lines > mostLines || len(out.reported()) > 3*mostTail {
			t.Fatalf("kept %d bytes of a line, %d lines", len(out.partial), out.lines)
		}
		for _, r := range out.read().results {
			if r.Iters <= 0 || len(r.Values) == 0 {
				t.Fatalf("%+v is no result", r)
			}
			for _, v := range r.Values {
				if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
					t.Fatalf("%+v", r)
				}
				_ = amount(v.Value, v.Unit)
			}
		}
	})
}

func FuzzReadProfile(f *testing.F) {
	f.Add([]byte("not a profile"))
	f.Add([]byte{0x0a, 0x04, 0x08, 0x01, 0x10, 0x02, 0x12, 0x00})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		p, err := readProfile(data)
		if err == nil && (p.Collecting > 1 || p.Allocating > 1 || p.Samples < 0) {
			t.Fatalf("%+v", p)
		}
	})
}

// TestEnds: with -test.v the log of a benchmark comes before its end, and belongs to it; a
// benchmark that prints something like its own end ends nothing else.
func TestEnds(t *testing.T) {
	var f filter
	for _, text := range []string{
		"BenchmarkA\n    a_test.go:3: one NUMA node\n        of two\n--- SKIP: BenchmarkA\n",
		"BenchmarkB\n    a_test.go:3: begun\n    a_test.go:4: wrong sum\n--- FAIL: BenchmarkB\n",
		"BenchmarkC\n    a_test.go:5: a remark\nBenchmarkC  \t 10\t 12 ns/op\n",
		"BenchmarkD\n--- SKIP: BenchmarkD\nBenchmarkE\n--- FAIL: BenchmarkE\n",
	} {
		_, _ = f.Write([]byte(text))
	}
	out := f.read()
	if len(out.skipped) != 2 || out.skipped["A"] != "one NUMA node" || out.skipped["D"] != "" {
		t.Errorf("skipped: %q", out.skipped)
	}
	if strings.Join(out.failed, " ") != "B E" || len(out.message) != 1 ||
		out.message["B"] != "--- FAIL: BenchmarkB a_test.go:4: wrong sum" {
		t.Errorf("failed: %q, %q", out.failed, out.message)
	}
	if len(out.results) != 1 || string(out.results[0].Name) != "C" {
		t.Errorf("%+v", out.results)
	}
}

// TestEndsOfQuiet: without -test.v the log follows the end, and is not the next one's.
func TestEndsOfQuiet(t *testing.T) {
	var f filter
	_, _ = f.Write([]byte("--- FAIL: BenchmarkA\n    a_test.go:3: wrong\n--- FAIL: BenchmarkB\n    a_test.go:4: late\n"))
	if out := f.read(); len(out.failed) != 2 || len(out.message) != 0 {
		t.Errorf("%q, %q", out.failed, out.message)
	}
}
