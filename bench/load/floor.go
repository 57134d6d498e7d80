//go:build linux

package main

import (
	"context"
	_ "embed" // the floor travels with the harness
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

//go:embed floor.c
var floorSource []byte

// floor compiles the C loop that is the least a generator can do.
func floor(ctx context.Context, dir string) *tool {
	t := &tool{
		name: "floor",
		arguments: func(s shape, _ string) ([]string, bool) {
			host, port, _ := net.SplitHostPort(s.address)
			return []string{host, port, strconv.Itoa(s.connections), fmt.Sprint(s.duration.Seconds())},
				s.protocol == http1 && !s.tls && s.rate == 0
		},
		read: func(o output, _ shape, _ string) (tally, error) {
			var said struct {
				Requests, Errors int64
				CPU              int64 `json:"cpu_ns"`
			}
			if err := json.Unmarshal(o.stdout, &said); err != nil {
				return tally{}, fmt.Errorf("floor: %w", err)
			}
			return tally{Requests: said.Requests, Errors: said.Errors}.checked("floor")
		},
	}
	path, err := compile(ctx, dir, "floor", floorSource)
	if err != nil {
		t.why = err.Error()
		return t
	}
	t.path = path
	return t
}

func compile(ctx context.Context, dir, name string, source []byte) (string, error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", fmt.Errorf("no C compiler (hint: apt-get install gcc libc6-dev)")
	}
	file, program := filepath.Join(dir, name+".c"), filepath.Join(dir, name)
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(ctx, cc, "-O2", "-o", program, file).CombinedOutput(); err != nil {
		return "", fmt.Errorf("cc %s.c: %w%s", name, err, lastLine(out))
	}
	return program, nil
}
