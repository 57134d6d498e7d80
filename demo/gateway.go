package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/redline-go/redline/target"
)

// gateway is the built order gateway and what it says of itself.
type gateway struct {
	binary   string
	remedies []Remedy
}

// FindCheckout returns the nearest folder at or above dir that holds the lab's
// gateway.
func FindCheckout(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "lab", "gateway", "main.go")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no lab/gateway at or above %s (hint: run redline demo inside a checkout of redline)", dir)
		}
	}
}

// buildGateway builds the gateway from the checkout with the probe injected,
// exactly as a user's own service would be.
func buildGateway(ctx context.Context, checkout, scratch string) (*gateway, error) {
	g := &gateway{binary: filepath.Join(scratch, "gateway")}
	if err := target.Build(ctx, filepath.Join(checkout, "lab", "gateway"), g.binary); err != nil {
		return nil, err
	}
	out, err := g.command(ctx, nil, "remedies", "--json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(out, &g.remedies); err != nil {
		return nil, fmt.Errorf("read the gateway's remedies: %w", err)
	}
	return g, nil
}

// command runs one of the gateway's commands and returns its output.
func (g *gateway) command(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, g.binary, args...)
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("gateway %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// freeAddress returns a loopback address that was free a moment ago.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
