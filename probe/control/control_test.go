package control

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// start serves on a socket of its own. Sun paths are short, hence not TempDir.
func start(t *testing.T) (*Server, string) {
	t.Helper()
	return startWith(t, nil)
}

func startWith(t *testing.T, pause chan<- bool) (*Server, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	begin := time.Now()
	path := filepath.Join(dir, "s")
	s, err := Listen(path, func() int64 { return int64(time.Since(begin)) })
	if err != nil {
		t.Fatal(err)
	}
	s.Pause = pause
	served := make(chan struct{})
	go func() { defer close(served); s.Serve() }()
	t.Cleanup(func() { s.Close(); <-served })
	return s, path
}

func dial(t *testing.T, path, line string) *net.UnixConn {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		t.Fatal(err)
	}
	return c.(*net.UnixConn)
}

func ask(t *testing.T, path string, r Request) ([]byte, Outcome, error) {
	t.Helper()
	var data bytes.Buffer
	outcome, err := Receive(dial(t, path, r.String()), &data, 64<<20)
	return data.Bytes(), outcome, err
}

var gzipMagic = []byte{0x1f, 0x8b}

func TestProfiles(t *testing.T) {
	_, path := start(t)
	for _, kind := range []string{"heap", "allocs", "mutex", "block", "goroutine"} {
		data, outcome, err := ask(t, path, Request{Op: Profile, Kind: kind})
		if err != nil || !bytes.HasPrefix(data, gzipMagic) {
			t.Errorf("%s: %d bytes, %v", kind, len(data), err)
		}
		if outcome.To < outcome.From || outcome.Cut {
			t.Errorf("%s: %+v", kind, outcome)
		}
	}
}

func TestCPUProfileAndTraceAtOnce(t *testing.T) {
	_, path := start(t)
	const length = 300 * time.Millisecond
	var traced []byte
	done := make(chan error, 1)
	go func() {
		var buf bytes.Buffer
		c, err := net.Dial("unix", path)
		if err == nil {
			defer c.Close()
			_, _ = io.WriteString(c, Request{Op: Trace, Length: length, MaxBytes: 1 << 20}.String()+"\n")
			_, err = Receive(c, &buf, 4<<20)
		}
		traced = buf.Bytes()
		done <- err
	}()
	asked := time.Now()
	data, outcome, err := ask(t, path, Request{Op: CPU, Length: length})
	if err != nil || !bytes.HasPrefix(data, gzipMagic) {
		t.Errorf("cpu: %d bytes, %v", len(data), err)
	}
	// A start that was interrupted is made again, at the profile's expense, so
	// it is the answer that may not come sooner.
	if time.Since(asked) < length || outcome.To <= outcome.From || outcome.Cut {
		t.Errorf("cpu: %+v after %v", outcome, time.Since(asked))
	}
	if err := <-done; err != nil || !bytes.HasPrefix(traced, []byte("go 1.")) {
		t.Errorf("trace: %d bytes, %v", len(traced), err)
	}
}

// TestClientEndsEarly shuts down the sending side in a long profile and trace,
// and still gets them.
func TestClientEndsEarly(t *testing.T) {
	_, path := start(t)
	for _, r := range []Request{{Op: CPU, Length: MaxCPU}, {Op: Trace, Length: MaxTrace, MaxBytes: 1 << 20}} {
		c := dial(t, path, r.String())
		if err := c.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		var data bytes.Buffer
		outcome, err := Receive(c, &data, 16<<20)
		if err != nil || !outcome.Cut || data.Len() == 0 {
			t.Errorf("%s: %d bytes, %+v, %v", r.Op, data.Len(), outcome, err)
		}
	}
}

func TestTraceStopsAtItsBound(t *testing.T) {
	_, path := start(t)
	stop := make(chan struct{})
	defer close(stop)
	go func() { // events in plenty
		for {
			select {
			case <-stop:
				return
			default:
				runtime.Gosched()
			}
		}
	}()
	data, outcome, err := ask(t, path, Request{Op: Trace, Length: MaxTrace, MaxBytes: 10_000})
	if err != nil || !outcome.Cut || len(data) <= 10_000 {
		t.Errorf("%d bytes, %+v, %v", len(data), outcome, err)
	}
}

func TestOneCPUProfileAtATime(t *testing.T) {
	if err := pprof.StartCPUProfile(io.Discard); err != nil { // the target itself
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	_, path := start(t)
	_, _, err := ask(t, path, Request{Op: CPU, Length: time.Second})
	var remote *RemoteError
	if !errors.As(err, &remote) || !strings.Contains(remote.Text, "already in use") {
		t.Errorf("%v", err)
	}
}

func TestCloseEndsProfilesAndGivesRatesBack(t *testing.T) {
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(7))
	s, path := start(t)
	if _, outcome, err := ask(t, path, Request{Op: Rate, Kind: "mutex", Rate: 20}); err != nil || outcome.Previous != 7 {
		t.Errorf("%+v, %v", outcome, err)
	}
	if _, outcome, err := ask(t, path, Request{Op: Rate, Kind: "mutex", Rate: 30}); err != nil || outcome.Previous != 20 {
		t.Errorf("%+v, %v", outcome, err)
	}
	if _, outcome, err := ask(t, path, Request{Op: Rate, Kind: "block", Rate: 1e6}); err != nil || outcome.Previous != -1 {
		t.Errorf("%+v, %v", outcome, err)
	}
	// The connection is accepted before Close, whenever the profile begins.
	info := dial(t, path, "info")
	if _, err := Receive(info, io.Discard, 1<<16); err != nil {
		t.Error(err)
	}
	s.Close()
	if got := runtime.SetMutexProfileFraction(-1); got != 7 {
		t.Errorf("the mutex fraction is %d, was 7", got)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestSamplesArePaused(t *testing.T) {
	pause := make(chan bool, 1)
	_, path := startWith(t, pause)
	for _, rate := range []int{0, 1} {
		if _, _, err := ask(t, path, Request{Op: Rate, Kind: "ring", Rate: rate}); err != nil {
			t.Error(err)
		}
		if got := <-pause; got != (rate == 0) {
			t.Errorf("rate %d: pause is %t", rate, got)
		}
	}
}

func TestInfoAndBadRequests(t *testing.T) {
	_, path := start(t)
	data, _, err := ask(t, path, Request{Op: Info})
	if err != nil || !strings.Contains(string(data), "go="+runtime.Version()+"\n") {
		t.Errorf("%q, %v", data, err)
	}
	for _, line := range []string{"", "reboot", "cpu", "cpu -1", "cpu 99999999999", "profile secrets", "trace 10",
		"rate heap 1", "rate ring 2", strings.Repeat("x", maxLine)} {
		_, err := Receive(dial(t, path, line), io.Discard, 1<<16)
		var remote *RemoteError
		if !errors.As(err, &remote) {
			t.Errorf("%q: %v", line, err)
		}
	}
	// A client that sends no line is not answered, nor does it hold others up.
	silent := dial(t, path, strings.Repeat("x", 3*maxLine))
	if _, err := Receive(silent, io.Discard, 1<<16); err == nil {
		t.Error("an endless line is answered")
	}
}

func TestListenRespectsWhatIsThere(t *testing.T) {
	_, path := start(t)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(file, func() int64 { return 0 }); err == nil {
		t.Error("a file was taken for a socket")
	}
	if data, _ := os.ReadFile(file); string(data) != "mine" {
		t.Error("the file was removed")
	}
}

func TestReceiveRefusesWhatIsNotWhole(t *testing.T) {
	frame := func(kind byte, text string) []byte {
		var b bytes.Buffer
		if _, err := writeFrame(&b, nil, kind, []byte(text)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	end := frame(frameEnd, Outcome{From: 1, To: 2, Previous: -1}.String())
	big := frame(frameData, strings.Repeat("x", 3*maxFrame))
	for name, answer := range map[string][]byte{
		"nothing":       nil,
		"no end":        frame(frameData, "abc"),
		"cut head":      {'D', 0, 0},
		"cut data":      frame(frameData, "abc")[:7],
		"cut end":       end[:len(end)-1-5],
		"unknown frame": frame('?', ""),
		"huge frame":    {'D', 0xff, 0xff, 0xff, 0xff},
		"no numbers":    frame(frameEnd, "all well"),
		"ends before":   frame(frameEnd, "5 4 0 -1 false"),
		"too large":     append(bytes.Clone(big), end...),
	} {
		if _, err := Receive(bytes.NewReader(answer), io.Discard, 2*maxFrame); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var data bytes.Buffer
	outcome, err := Receive(bytes.NewReader(append(big, end...)), &data, 3*maxFrame)
	if err != nil || data.Len() != 3*maxFrame || outcome.To != 2 {
		t.Errorf("%d bytes, %+v, %v", data.Len(), outcome, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{"info", "profile heap", "cpu 100", "trace 100 5000", "flightstart 1000 65536",
		"flightdump", "flightstop", "rate block 1000", "rate ring 0", "cpu", "  rate  mutex 5 "} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, err := Parse(line)
		if err != nil {
			return
		}
		again, err := Parse(r.String())
		if err != nil || again != r {
			t.Fatalf("%+v becomes %+v, %v", r, again, err)
		}
	})
}

func FuzzReceive(f *testing.F) {
	var good bytes.Buffer
	for kind, text := range map[byte]string{frameData: "data", frameError: "no"} {
		if _, err := writeFrame(&good, nil, kind, []byte(text)); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(good.Bytes())
	f.Add([]byte("Z\x00\x00\x00\x0e1 2 0 -1 false"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		const limit = 1 << 20
		var data bytes.Buffer
		outcome, err := Receive(bytes.NewReader(answer), &data, limit)
		if data.Len() > limit || err == nil && outcome.To < outcome.From {
			t.Fatalf("%d bytes, %+v", data.Len(), outcome)
		}
	})
}
