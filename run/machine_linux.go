package run

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix" // limits of the process

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/container"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const (
	// fewFiles is less than a thousand connections and their sources need.
	fewFiles = 4096
	// fewPorts is less than what 400 new connections per second to one address
	// need, because each port then rests for a minute (TIME_WAIT).
	fewPorts = 24_000
)

// system examines this process's limits on Linux.
func system() []Check {
	var missing []Check
	if !observe.Mounted("/proc") {
		missing = []Check{{
			Name: "/proc", Value: "not mounted: redline can read no process, its own threads included",
			Advice: "mount it (mount -t proc proc /proc); in a sandbox, let redline have the host's",
		}}
	}
	return append(missing, []Check{
		{Name: "kernel", OK: true, Value: record.HostInfo().Kernel + fmt.Sprintf(", as user %d", os.Geteuid())},
		openFiles(), clockSource(), localPorts(), confinement(),
	}...)
}

func openFiles() Check {
	c := Check{Name: "open files"}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		c.Value = err.Error()
		return c
	}
	c.OK, c.Value = limit.Max >= fewFiles, fmt.Sprintf("%d, at most %d", limit.Cur, limit.Max)
	if !c.OK {
		c.Advice = "each connection takes one: raise the hard limit (ulimit -Hn, LimitNOFILE= of systemd, --ulimit nofile= of docker)"
	}
	return c
}

func clockSource() Check {
	source := line("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	c := Check{Name: "clock", OK: true, Value: source}
	switch source {
	case "":
		c.Value = "clock source unknown here"
	case "hpet", "acpi_pm", "jiffies", "refined-jiffies", "xen":
		c.OK, c.Advice = false, "reading the time takes a system call or longer: boot with clocksource=tsc, or use another kind of machine"
	}
	return c
}

func localPorts() Check {
	c := Check{Name: "local ports"}
	var first, last int
	if n, err := fmt.Sscan(line("/proc/sys/net/ipv4/ip_local_port_range"), &first, &last); n != 2 || err != nil {
		c.OK, c.Value = true, "range unknown here"
		return c
	}
	c.OK, c.Value = last-first >= fewPorts, fmt.Sprintf("%d (%d-%d)", last-first+1, first, last)
	if !c.OK {
		c.Advice = "limits the connections to one address: widen net.ipv4.ip_local_port_range, or add --source addresses"
	}
	return c
}

// confinement describes the CPU quota and the memory limit of redline itself.
func confinement() Check {
	c := Check{Name: "own limits", OK: true, Value: "no CPU quota, no memory limit"}
	clock, err := timebase.Start()
	if err != nil {
		return c
	}
	source := container.New(container.Options{})
	if err := source.Open(context.Background(), observe.Subject{Clock: clock, PID: os.Getpid()}); err != nil {
		c.Value = "unknown here: " + err.Error()
		return c
	}
	ctx, cancel := context.WithTimeout(context.Background(), 250*time.Millisecond)
	defer cancel()
	own := limits{}
	_ = source.Run(ctx, own) // it ends only with its context
	quota, confined := own[series.CgroupQuota]
	memory, limited := own[series.CgroupMemoryLimit]
	if confined {
		c.OK, c.Value = false, notation.Short(quota)+" CPUs"
		c.Advice = "the quota stops the generator in the middle of requests: give it whole CPUs (cpuset), not a quota"
	}
	if limited {
		if !confined {
			c.Value = "no CPU quota"
		}
		c.Value += ", " + notation.Size(memory) + " of memory"
	}
	return c
}

// limits is a sink that keeps the last value of each series.
type limits map[string]float64

// Add implements observe.Sink.
func (l limits) Add(points ...series.Point) error {
	for _, p := range points {
		l[p.Series.Name] = p.Value
	}
	return nil
}

// Profile implements observe.Sink.
func (limits) Profile(record.Profile) error { return nil }

// Trace implements observe.Sink.
func (limits) Trace(record.Trace) error { return nil }
