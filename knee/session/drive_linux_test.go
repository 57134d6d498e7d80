package session

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/criteria"
	"github.com/redline-go/redline/service/guard"
)

// serveVariable makes this test program a service at an address, which ends by itself at
// a request.
const serveVariable = "REDLINE_TEST_KNEE_SERVICE"

func TestMain(m *testing.M) {
	guard.Main()
	if address := os.Getenv(serveVariable); address != "" {
		serve(address)
	}
	os.Exit(m.Run())
}

// lastRequest is the one that the service ends at.
const lastRequest = 120

func serve(address string) {
	var served atomic.Int64
	_ = http.ListenAndServe(address, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if served.Add(1) == lastRequest {
			fmt.Print("its last words") // without an end of the line
			os.Exit(7)
		}
	}))
	os.Exit(1)
}

func driverOf(t *testing.T, url string, target scenario.Target) *runner {
	t.Helper()
	plan, err := scenario.FromURL(url, scenario.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	plan.Target = target
	d, err := newDriver(Options{Plan: plan, Dir: t.TempDir(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

// TestDrivesARunningService: a step of a rate, and one of connections, with figures of the
// bundle that the run left; the objectives are the step's own.
func TestDrivesARunningService(t *testing.T) {
	const each = 2 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(each) }))
	defer server.Close()
	d := driverOf(t, server.URL, scenario.Target{})
	d.Plan.Load.Stages = []scenario.Stage{{To: 5, Over: time.Second}} // the scenario's, and no step's
	light, err := d.drive(t.Context(), load{phase: knee.Light, connections: 1, warmup: 100 * time.Millisecond, measured: time.Second})
	if err != nil || light.Requests == 0 || light.Service < int64(each) || light.Rate != 0 || light.Errors != 0 {
		t.Fatalf("%v: %+v", err, light)
	}
	impossible, err := criteria.ParseThreshold("p50 < 1ms")
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.drive(t.Context(), load{phase: knee.Searched, rate: 50, warmup: 100 * time.Millisecond, measured: 2 * time.Second,
		objectives: knee.Objectives{Thresholds: []criteria.Threshold{impossible}}})
	if err != nil || s.Requests != 100 || s.Outcome != knee.Breaks || !strings.Contains(strings.Join(s.Why, ""), "p50 < 1ms fails: ") {
		t.Errorf("%v: %+v", err, s)
	}
	if could, err := d.relaunch(t.Context()); could || err != nil {
		t.Errorf("a service that runs already was launched anew: %v", err)
	}
	server.Close()
	if _, err := d.drive(t.Context(), load{phase: knee.Searched, rate: 50, measured: time.Second}); err == nil {
		t.Error("a service that is gone was measured")
	}
}

// TestATargetThatEnds: its step says how it ended, all of its output is shown, and it is launched anew.
func TestATargetThatEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	d := driverOf(t, "http://"+address+"/", scenario.Target{Exec: []string{os.Args[0]}, Env: map[string]string{serveVariable: address}})
	var output strings.Builder
	d.Output = &output
	l := load{phase: knee.Searched, rate: 100, measured: 10 * time.Second}
	for range 2 {
		s, err := d.drive(t.Context(), l)
		if err != nil || s.Outcome != knee.Ended || !strings.Contains(strings.Join(s.Why, ""), "exit status 7") {
			t.Fatalf("%v: %+v", err, s)
		}
	}
	if n := strings.Count(output.String(), "its last words"); n != 2 {
		t.Errorf("the last words of %d launches of 2 were shown: %q", n, &output)
	}
}

func TestPlansOfSteps(t *testing.T) {
	d := driverOf(t, "http://127.0.0.1:1/", scenario.Target{})
	d.Plan.Load.Connections, d.Plan.Load.Requests, d.Plan.Load.Think = 7, 99, scenario.Think{Mean: time.Second}
	open := d.plan(load{rate: 10, measured: time.Second}).Load
	if !open.Open() || open.Connections != 0 || open.Requests != 0 || open.Think != (scenario.Think{}) {
		t.Errorf("open: %+v", open)
	}
	if closed := d.plan(load{connections: 3, measured: time.Second}).Load; closed.Open() || closed.Connections != 3 {
		t.Errorf("closed: %+v", closed)
	}
	d.Plan.Load.Rate = 5
	if capped := d.plan(load{rate: 10, measured: time.Second}).Load; capped.Connections != 7 {
		t.Errorf("the cap of an open loop is the scenario's: %+v", capped)
	}
	if check(&scenario.Plan{Load: scenario.Load{Replay: &scenario.Replay{}}}) == nil {
		t.Error("a replay has no rate to vary")
	}
}
