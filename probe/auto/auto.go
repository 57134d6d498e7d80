// Package auto starts redline's probe in the program that imports it, if
// redline started that program. Import it for its side effect:
//
//	import _ "github.com/redline-go/redline/probe/auto"
//
// It works in init. That is wrong almost anywhere, but right here: redline
// injects this package into programs whose source it must not touch, so there
// is no main to call it from, and a program that imports it by hand can remove
// it again by deleting one line. Without redline's environment variables
// init finds nothing and returns; no goroutine, file or socket is made, and the
// program runs as if the probe were not there. The probe writes nothing to the
// program's outputs, and no panic of its own leaves its goroutines.
package auto

import (
	"os"
	"runtime"
	"time"

	"github.com/redline-go/redline/probe/control"
	"github.com/redline-go/redline/probe/env"
	"github.com/redline-go/redline/probe/operations"
	"github.com/redline-go/redline/probe/ring"
	"github.com/redline-go/redline/probe/sampler"
)

func init() {
	config, reported, err := env.Take()
	if !reported || err != nil {
		return // a malformed environment is redline's fault, not the target's
	}
	if connect != nil {
		operations.Start()
		connect()
	}
	// Not waited for: what the probe needs from the file system must not delay
	// the program's start.
	go run(config)
}

// connect sets the hooks in instrumented packages; nil if redline's build added
// none. The file that it adds calls bridge before init.
var connect func()

func bridge(set func()) bool {
	connect = set
	return true
}

var _ = bridge // called in builds with hooks only

// aliveEvery is how often the probe checks whether redline is still there.
const aliveEvery = time.Second

// run serves until redline is gone. A program that outlives redline is rid of
// the probe a second later.
func run(c env.Config) {
	defer func() { _ = recover() }()
	defer operations.Stop()
	clock := sampler.StartClock(c.EpochMonotonic, c.EpochWall)
	stop := make(chan struct{})
	defer close(stop)

	// path is the file that vanishes when redline clears its directory.
	note, path := "", ""
	pause := make(chan bool)
	// Each of the two says why the other is missing.
	var server *control.Server
	if c.Socket != "" {
		var err error
		if server, err = control.Listen(c.Socket, clock.Now); err != nil {
			note = err.Error()
		} else {
			defer server.Close()
			server.Pause = pause
			path = c.Socket
		}
	}
	if c.Ring != "" {
		s := sampler.New()
		w, err := ring.Create(c.Ring, header(c, clock, note), s.Columns(), 0)
		if err == nil {
			loop := &sampler.Loop{Clock: clock, Epoch: c.EpochMonotonic, Window: c.Window, Sampler: s, Ring: w, Pause: pause}
			go loop.Run(stop)
			path = c.Ring
		} else if server != nil {
			server.NoRing = err.Error()
		}
	}
	if server != nil {
		go server.Serve()
	}
	if path == "" {
		return
	}
	ticker := time.NewTicker(aliveEvery)
	defer ticker.Stop()
	for range ticker.C {
		if !alive(c.Agent, path) {
			return
		}
	}
}

func header(c env.Config, clock sampler.Clock, note string) ring.Header {
	return ring.Header{
		PID:            os.Getpid(),
		EpochMonotonic: c.EpochMonotonic,
		Window:         c.Window,
		StartMonotonic: clock.Now(),
		ClockError:     clock.Error,
		GOMAXPROCS:     runtime.GOMAXPROCS(0),
		NumCPU:         runtime.NumCPU(),
		GoVersion:      runtime.Version(),
		Note:           note,
	}
}

// alive reports whether redline is still there: its process runs, and the file
// that we made in its directory still exists.
func alive(agent int, path string) bool {
	if agent != 0 && !running(agent) {
		return false
	}
	_, err := os.Lstat(path)
	return !os.IsNotExist(err)
}
