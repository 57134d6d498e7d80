// Package env is the configuration that redline gives the probe: where to write, where to
// listen, and which clock to keep, through the environment of the process that
// it starts.
package env

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// The environment variables. All begin with Prefix.
const (
	Prefix = "REDLINE_PROBE_"
	Ring   = Prefix + "RING"   // path of the shared memory to create
	Socket = Prefix + "SOCKET" // path of the Unix socket to listen on
	Epoch  = Prefix + "EPOCH"  // CLOCK_MONOTONIC at the run's epoch, ns
	Wall   = Prefix + "WALL"   // wall clock at the run's epoch, Unix ns
	Window = Prefix + "WINDOW" // width of a window, ns
	Agent  = Prefix + "AGENT"  // process id of redline
)

// DefaultWindow is the width of a window when none is given.
const DefaultWindow = 100 * time.Millisecond

// minWindow keeps a wrong setting from turning the probe into load.
const minWindow = time.Millisecond

// Config is the probe's configuration.
type Config struct {
	Ring   string // empty: no figures are sampled
	Socket string // empty: no profiles are served
	// EpochMonotonic is the run's epoch on CLOCK_MONOTONIC in ns. Samples are
	// taken at multiples of Window since then.
	EpochMonotonic int64
	// EpochWall is the same instant as Unix time in ns; 0 if unknown. Only
	// systems where a process cannot read CLOCK_MONOTONIC itself need it.
	EpochWall int64
	Window    time.Duration // zero means DefaultWindow
	// Agent is the process whose end the probe takes for the end of the run; 0
	// if unknown, when only the ring's disappearance shows it.
	Agent int
}

// Environ returns the settings as environment variables, to be added to those
// of the process to start. Zero fields are left out.
func (c Config) Environ() []string {
	var list []string
	text := func(name, value string) {
		if value != "" {
			list = append(list, name+"="+value)
		}
	}
	number := func(name string, value int64) {
		if value != 0 {
			list = append(list, name+"="+strconv.FormatInt(value, 10))
		}
	}
	text(Ring, c.Ring)
	text(Socket, c.Socket)
	number(Epoch, c.EpochMonotonic)
	number(Wall, c.EpochWall)
	number(Window, int64(c.Window))
	number(Agent, int64(c.Agent))
	return list
}

// Take reads the settings from the environment and removes them from it, so
// that processes which the target starts do not act as the target. It
// reports whether there were any; without them the probe has nothing to do.
func Take() (c Config, reported bool, err error) {
	for _, name := range [...]string{Ring, Socket, Epoch, Wall, Window, Agent} {
		value, ok := os.LookupEnv(name)
		if !ok {
			continue
		}
		_ = os.Unsetenv(name) // fails on malformed names only
		reported = true
		if e := c.set(name, value); e != nil && err == nil {
			err = e
		}
	}
	if reported && err == nil {
		err = c.check()
	}
	return c, reported, err
}

func (c *Config) set(name, value string) error {
	switch name {
	case Ring:
		c.Ring = value
		return nil
	case Socket:
		c.Socket = value
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return fmt.Errorf("%s: %q is not a whole number", name, value)
	}
	switch name {
	case Epoch:
		c.EpochMonotonic = n
	case Wall:
		c.EpochWall = n
	case Window:
		c.Window = time.Duration(n)
	case Agent:
		c.Agent = int(n)
	}
	return nil
}

func (c *Config) check() error {
	if c.Window == 0 {
		c.Window = DefaultWindow
	}
	if c.Window < minWindow {
		return fmt.Errorf("%s: a window of %v is below %v", Window, c.Window, minWindow)
	}
	if c.Agent < 0 {
		return fmt.Errorf("%s: %d is not a process id", Agent, c.Agent)
	}
	if strings.IndexByte(c.Ring+c.Socket, 0) >= 0 {
		return fmt.Errorf("%s: a path holds a zero byte", Prefix)
	}
	return nil
}
