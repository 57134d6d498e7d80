package benchmark

import (
	"cmp"
	"os"
	"regexp"
	"runtime"
	"strings"
)

// Machine says where figures were measured.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

// ThisMachine describes the machine of this process. What the kernel does not say is "unknown".
func ThisMachine() Machine {
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return Machine{CPU: cpuModel(string(cpu)), Cores: runtime.NumCPU(),
		Kernel: cmp.Or(strings.TrimSpace(string(kernel)), "unknown"), Go: runtime.Version()}
}

// cpuModel returns the processor's name of a /proc/cpuinfo with its model and stepping: a virtual machine's "AMD EPYC"
// may be any of several years.
func cpuModel(cpuinfo string) string {
	field := regexp.MustCompile(`(?m)^(model name|model|stepping)\s*:\s*(.*)$`)
	values := map[string]string{}
	for _, match := range field.FindAllStringSubmatch(cpuinfo, -1) {
		values[match[1]] = cmp.Or(values[match[1]], match[2])
	}
	if values["model name"] == "" {
		return "unknown"
	}
	return values["model name"] + " (model " + values["model"] + ", stepping " + values["stepping"] + ")"
}
