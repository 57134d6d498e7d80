package record

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
)

// hardware reads the CPU's model from /proc/cpuinfo and the memory, in bytes,
// from /proc/meminfo (proc_cpuinfo(5), proc_meminfo(5)).
func hardware() (model string, memory int64) {
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		// Most arm64 kernels print no such line; the model is then empty.
		model = procField(f, "model name")
		f.Close()
	}
	if f, err := os.Open("/proc/meminfo"); err == nil {
		kib, _ := strconv.ParseInt(strings.TrimSuffix(procField(f, "MemTotal"), " kB"), 10, 64)
		memory = kib << 10
		f.Close()
	}
	return model, memory
}

// procField returns the value of the first "name : value" line of the name.
func procField(r io.Reader, name string) string {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
