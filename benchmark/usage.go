package benchmark

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPUTime is the time of all CPUs of this host since it booted.
type CPUTime struct {
	All    time.Duration
	Idle   time.Duration // with the wait for disks
	Stolen time.Duration // in which the hypervisor ran something else
}

// HostCPU reads the CPU time of this host from /proc/stat (proc_stat(5)).
func HostCPU() (CPUTime, error) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return CPUTime{}, err
	}
	defer f.Close()
	return parseStat(f)
}

// parseStat reads the first line of /proc/stat: "cpu  user nice system idle iowait irq softirq steal ...", in ticks of
// 10 ms. Guests' time, which follows, is in user time already.
func parseStat(r io.Reader) (t CPUTime, err error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return t, fmt.Errorf("/proc/stat: %w", err)
	}
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return t, fmt.Errorf("/proc/stat begins with %q", line)
	}
	for i, field := range fields[1:9] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return t, fmt.Errorf("/proc/stat: %w", err)
		}
		took := time.Duration(n) * 10 * time.Millisecond
		t.All += took
		switch i {
		case 3, 4:
			t.Idle += took
		case 7:
			t.Stolen = took
		}
	}
	return t, nil
}

// Resident reads a process's resident memory in bytes, now and at its highest, from /proc/PID/status
// (proc_pid_status(5)). A process that has ended has none, which is an error.
func Resident(pid int) (now, peak int64, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	return parseStatus(f)
}

func parseStatus(r io.Reader) (now, peak int64, err error) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		into := map[string]*int64{"VmRSS": &now, "VmHWM": &peak}[name]
		if into == nil {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", name, err)
		}
		*into = kb << 10
	}
	if now == 0 {
		return 0, 0, errors.New("no VmRSS: the process is ending")
	}
	return now, peak, nil
}
