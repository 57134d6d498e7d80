//go:build linux

package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix" // uname
)

// machine says where figures were measured.
type machine struct {
	CPU    string            `json:"cpu"`
	Cores  int               `json:"cores"`
	Kernel string            `json:"kernel"`
	Go     string            `json:"go"`
	Tools  map[string]string `json:"tools"` // name to version
}

func describeMachine() machine {
	m := machine{CPU: "unknown", Cores: runtime.NumCPU(), Go: runtime.Version(), Tools: map[string]string{}}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.CPU = cpuModel(string(info))
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	return m
}

func cpuModel(cpuinfo string) string {
	field := regexp.MustCompile(`(?m)^(model name|model|stepping)\s*:\s*(.*)$`)
	values := map[string]string{}
	for _, match := range field.FindAllStringSubmatch(cpuinfo, -1) {
		if values[match[1]] == "" {
			values[match[1]] = match[2]
		}
	}
	if values["model name"] == "" {
		return "unknown"
	}
	return values["model name"] + " (model " + values["model"] + ", stepping " + values["stepping"] + ")"
}

// busyShare is how much of all cores is in use over a moment in which the
// harness does nothing itself: the share that others take from the measurement.
func busyShare(moment time.Duration) (float64, error) {
	before, err := cpuTicks()
	if err != nil {
		return 0, err
	}
	time.Sleep(moment)
	after, err := cpuTicks()
	if err != nil {
		return 0, err
	}
	all := after.all - before.all
	if all <= 0 {
		return 0, nil
	}
	return 1 - float64(after.idle-before.idle)/float64(all), nil
}

type ticks struct{ all, idle int64 }

// cpuTicks reads the first line of /proc/stat: "cpu  user nice system idle
// iowait irq softirq steal ...", https://docs.kernel.org/filesystems/proc.html
func cpuTicks() (ticks, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{}, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return ticks{}, fmt.Errorf("/proc/stat begins with %q", line)
	}
	var t ticks
	for i, field := range fields[1:9] { // guest time is in user time already
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return ticks{}, fmt.Errorf("/proc/stat: %w", err)
		}
		t.all += n
		if i == 3 || i == 4 {
			t.idle += n
		}
	}
	return t, nil
}
