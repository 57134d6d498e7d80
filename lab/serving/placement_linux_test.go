package serving_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/lab/micro"
)

// BenchmarkAffinity serves on all CPUs, or on those of the first NUMA node alone, and so
// does its twin with large answers from memory that was touched before.
func BenchmarkAffinity(b *testing.B) { placed(b, body) }

func BenchmarkNUMA(b *testing.B) { placed(b, make([]byte, 64<<10)) }

func placed(b *testing.B, answer []byte) {
	nodes, err := filepath.Glob("/sys/devices/system/node/node[0-9]*")
	if err != nil || len(nodes) < 2 {
		b.Skipf("this host has %d NUMA node (hint: a host with two or more, as most with two sockets)", max(1, len(nodes)))
	}
	if micro.Of(false, true) {
		cpus, err := cpusOf("/sys/devices/system/node/node0/cpulist")
		if err == nil {
			err = pin(cpus)
		}
		if err != nil {
			b.Skipf("pin to node 0: %v", err)
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cpus.Count()))
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) })
	together(b, wires(b, clients, serve(b, &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}), "/", answer))
}

// cpusOf reads a list of CPUs, as 0-3,8 (Documentation/admin-guide/cputopology.rst).
func cpusOf(path string) (set unix.CPUSet, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return set, err
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), ",") {
		first, last, many := strings.Cut(part, "-")
		if !many {
			last = first
		}
		from, errFrom := strconv.Atoi(first)
		to, errTo := strconv.Atoi(last)
		if errFrom != nil || errTo != nil || from > to {
			return set, fmt.Errorf("%s: %q is no list of CPUs", path, text)
		}
		for cpu := from; cpu <= to; cpu++ {
			set.Set(cpu)
		}
	}
	return set, nil
}

// pin binds every thread of this process; those that it starts later inherit it.
func pin(cpus unix.CPUSet) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, &cpus); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
}

// TestPin: all threads are where they were put, and back afterwards.
func TestPin(t *testing.T) {
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	first := 0
	for !before.IsSet(first) {
		first++
	}
	var one unix.CPUSet
	one.Set(first)
	if err := pin(one); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := pin(before); err != nil {
			t.Error(err)
		}
	}()
	var now unix.CPUSet
	if err := unix.SchedGetaffinity(0, &now); err != nil || now != one {
		t.Errorf("%v, %v", now, err)
	}
}

func TestCPUList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpulist")
	for text, want := range map[string]int{"0\n": 1, "0-3,8\n": 5, "3-1": -1, "": -1} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := cpusOf(path)
		if (err != nil) != (want < 0) || err == nil && set.Count() != want {
			t.Errorf("%q: %d CPUs, %v", text, set.Count(), err)
		}
	}
}

// BenchmarkLargePages reads 64 MB in random order: in pages of 4 KB, or in transparent
// huge ones. Go's runtime has no setting that asks for these; the program asks the kernel
// for memory of its own.
func BenchmarkLargePages(b *testing.B) {
	const size = 64 << 20
	mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || strings.Contains(string(mode), "[never]") {
		b.Skip("transparent huge pages are off (hint: /sys/kernel/mm/transparent_hugepage/enabled at madvise or always)")
	}
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = unix.Munmap(memory) }()
	before := hugeKB(b)
	if err := unix.Madvise(memory, micro.Of(unix.MADV_NOHUGEPAGE, unix.MADV_HUGEPAGE)); err != nil {
		b.Skipf("ask for huge pages: %v", err)
	}
	for i := 0; i < size; i += 4096 {
		memory[i] = byte(i >> 12)
	}
	if got := hugeKB(b) - before; micro.Of(false, true) && got < size>>11 {
		b.Skipf("the kernel gave %d KB of 64 MB in huge pages (hint: memory that is less fragmented)", got)
	}
	at, sum := uint64(1), 0
	for b.Loop() {
		for range 1000 {
			at = at*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
			sum += int(memory[at>>38&(size-1)])
		}
	}
	if sum < 0 {
		b.Fatal(sum)
	}
}

// hugeKB is how much of this process's memory is in huge pages.
func hugeKB(tb testing.TB) (kb int) {
	tb.Helper()
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		tb.Skipf("how much is in huge pages: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "AnonHugePages:"); ok {
			_, _ = fmt.Sscan(rest, &kb)
		}
	}
	return kb
}
