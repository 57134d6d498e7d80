//go:build linux

package generator

import (
	"context"
	_ "embed" // the floor is part of the harness
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/redline-go/redline/bench/load/process"
)

//go:embed floor.h
var floorHeader []byte

//go:embed floor.c
var floorSource []byte

//go:embed floor_uring.c
var ringSource []byte

// Floor compiles the C loop that is the least a generator on epoll can do.
func Floor(ctx context.Context, dir string) *Tool {
	return floor(ctx, dir, "floor", "floor", floorSource)
}

// RingFloor is the Floor on io_uring. It sleeps until that many answers are there: one as
// a generator must, more to show what wake-ups cost.
func RingFloor(ctx context.Context, dir string, answers int) *Tool {
	name := "floor on io_uring"
	if answers > 1 {
		name = fmt.Sprintf("%s, %d answers at a time", name, answers)
	}
	return floor(ctx, dir, name, fmt.Sprintf("floor_uring_%d", answers), ringSource, strconv.Itoa(answers))
}

func floor(ctx context.Context, dir, name, program string, source []byte, last ...string) *Tool {
	t := &Tool{
		Name: name,
		Arguments: func(s Shape, _ string) ([]string, bool) {
			host, port, _ := net.SplitHostPort(s.Address)
			return append([]string{host, port, strconv.Itoa(s.Connections), fmt.Sprint(s.Duration.Seconds())}, last...),
				s.Protocol == HTTP1 && !s.TLS && s.Rate == 0
		},
		Read: func(o process.Output, _ Shape, _ string) (Tally, error) {
			var reported struct {
				Requests, Errors int64
				CPU              int64 `json:"cpu_ns"`
			}
			if err := json.Unmarshal(o.Stdout, &reported); err != nil {
				return Tally{}, fmt.Errorf("%s: %w", name, err)
			}
			return Tally{Requests: reported.Requests, Errors: reported.Errors}.checked(name)
		},
	}
	path, err := compile(ctx, dir, program, source)
	if err != nil {
		t.Why = err.Error()
		return t
	}
	t.Path = path
	return t
}

func compile(ctx context.Context, dir, name string, source []byte) (string, error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", fmt.Errorf("no C compiler (hint: apt-get install gcc libc6-dev)")
	}
	file, program := filepath.Join(dir, name+".c"), filepath.Join(dir, name)
	for name, text := range map[string][]byte{file: source, filepath.Join(dir, "floor.h"): floorHeader} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return "", err
		}
	}
	if out, err := exec.CommandContext(ctx, cc, "-O2", "-o", program, file).CombinedOutput(); err != nil {
		return "", fmt.Errorf("cc %s.c: %w%s", name, err, process.LastLine(out))
	}
	return program, nil
}
