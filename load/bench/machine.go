//go:build linux

package main

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"

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

var version = regexp.MustCompile(`\d+\.\d+[.\w-]*`)

// toolVersion asks a program from PATH for its version; empty when it does
// not tell.
func toolVersion(path, flag string) string {
	// wrk exits 1 after it told its version.
	out, _ := exec.Command(path, flag).CombinedOutput()
	line, _, _ := strings.Cut(string(out), "\n")
	return version.FindString(line)
}

// revision is the commit that the checkout stands at.
func revision(dir string) string {
	out, err := exec.Command("git", "-C", dir, "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
