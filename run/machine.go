package run

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/service/postgres"
)

// machine examines the machine of generator and target.
func machine(ctx context.Context) []Check {
	checks := []Check{cpus()}
	checks = append(checks, system()...)
	return append(checks, timers(), toolchain(ctx), server())
}

// cpus: load and target share them, so one is too few.
func cpus() Check {
	c := Check{Name: "cpus", OK: runtime.NumCPU() > 1, Value: fmt.Sprintf("%d to run on, GOMAXPROCS %d", runtime.NumCPU(),
		runtime.GOMAXPROCS(0))}
	if !c.OK {
		c.Advice = "generator and target take turns on one CPU: use a machine with more, or expect invalid runs at high rates"
	}
	return c
}

// lateTimer is the lateness of a timer that makes an open loop uneven.
const lateTimer = 2 * time.Millisecond

// timers measures how late the runtime's timers fire while redline does nothing else.
func timers() Check {
	const sleep = time.Millisecond
	late := make([]time.Duration, 50)
	for i := range late {
		begin := time.Now()
		time.Sleep(sleep)
		late[i] = time.Since(begin) - sleep
	}
	slices.Sort(late)
	median, worst := late[len(late)/2], late[len(late)-1]
	c := Check{Name: "timers", OK: median < lateTimer, Value: fmt.Sprintf("late by %s at the median, %s at worst",
		notation.Time(median), notation.Time(worst))}
	if !c.OK {
		c.Advice = "the machine is busy or its CPUs are shared: stop other programs, or use another machine"
	}
	return c
}

// goPatience bounds what is asked of the go command.
const goPatience = 5 * time.Second

// toolchain: --build needs the go command; nothing in redline needs a C compiler.
func toolchain(ctx context.Context) Check {
	c := Check{Name: "go"}
	path, err := exec.LookPath("go")
	if err != nil {
		c.Value, c.Advice = "no go command", "install Go to use --build; --exec and --pid work without"
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, goPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "env", "GOVERSION")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local") // a go.mod here must not make it fetch another
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		c.Value, c.Advice = fmt.Sprintf("%s: %v", path, err), "repair the Go installation to use --build"
		return c
	}
	c.OK, c.Value = true, strings.TrimSpace(string(out))+", redline was built with "+runtime.Version()
	return c
}

// server: the demo and throwaway databases need server binaries.
func server() Check {
	dir, err := postgres.Installed()
	if err != nil {
		return Check{Name: "postgresql", Value: "no server binaries",
			Advice: "install PostgreSQL 13 or later for `redline demo`, or let it download them; a DSN works without"}
	}
	return Check{Name: "postgresql", OK: true, Value: dir}
}

// line returns the first line of a file, or "".
func line(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(first)
}
