package benchmark

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestResident(t *testing.T) {
	now, peak, err := parseStatus(strings.NewReader("Name:\tredline\nVmHWM:\t   20 kB\nVmRSS:\t   12 kB\n"))
	if now != 12<<10 || peak != 20<<10 || err != nil {
		t.Errorf("%d bytes now, %d at most, %v", now, peak, err)
	}
	if _, _, err := parseStatus(strings.NewReader("Name:\tredline\nState:\tZ (zombie)\n")); err == nil {
		t.Error("a process without memory passes")
	}
	if _, _, err := parseStatus(strings.NewReader("VmHWM:\tmany kB\nVmRSS:\t 7 kB\n")); err == nil {
		t.Error("a figure that is none passes")
	}
}

func TestCPUTime(t *testing.T) {
	got, err := parseStat(strings.NewReader("cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 1 2 4 8 16 32 64 128 256 512\n"))
	want := CPUTime{All: 2550 * time.Millisecond, Idle: 240 * time.Millisecond, Stolen: 1280 * time.Millisecond}
	if got != want || err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, text := range []string{"", "cpu  1 2 4\n", "cpu  1 2 4 8 16 32 64 many\n"} {
		if _, err := parseStat(strings.NewReader(text)); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}

// TestThisProcess reads what the kernel says of this machine.
func TestThisProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	if now, peak, err := Resident(os.Getpid()); err != nil || now < 1<<20 || peak < now {
		t.Errorf("%d bytes now, %d at most, %v", now, peak, err)
	}
	if c, err := HostCPU(); err != nil || c.All <= c.Idle || c.Idle <= 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if m := ThisMachine(); m.CPU == "" || m.Cores < 1 || m.Kernel == "" || m.Go == "" {
		t.Errorf("%+v", m)
	}
}

func TestCPUModel(t *testing.T) {
	const cpuinfo = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nstepping\t: 1\n\n" +
		"processor\t: 1\nmodel\t\t: 17\nstepping\t: 1\n"
	if got := cpuModel(cpuinfo); got != "AMD EPYC (model 17, stepping 1)" {
		t.Errorf("%q", got)
	}
	if got := cpuModel("processor\t: 0\nBogoMIPS\t: 50.00\n"); got != "unknown" {
		t.Errorf("%q for a processor without a name", got)
	}
}
