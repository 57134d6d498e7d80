// Package gateway prepares the lab's order gateway for measurements: its database
// filled, its remedies known, its scenario at an address of its own.
package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/document"
	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/port"
)

// Remedy is one switch of the gateway, as `gateway remedies --json` lists it.
type Remedy struct {
	Name  string   `json:"name"`
	Title string   `json:"title"`
	Env   string   `json:"env"`
	On    string   `json:"on"`    // the value that switches it on
	Cures []string `json:"cures"` // the causes it removes
	// Match narrows a cure to findings whose where or title contains one of these;
	// empty matches all.
	Match []string `json:"match"`
	// Last marks a remedy that is taken only when no finding calls for another:
	// it would hide the defects that the others cure.
	Last bool `json:"last"`
}

// Command runs one of a built gateway's commands and returns its output; env is
// added to redline's own environment.
func Command(ctx context.Context, binary string, env []string, args ...string) ([]byte, error) {
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := guard.Output(ctx, cmd, syscall.SIGTERM)
	if err != nil {
		return nil, fmt.Errorf("gateway %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// Seed fills an empty database.
func Seed(ctx context.Context, binary, dsn string) error {
	_, err := Command(ctx, binary, []string{"GATEWAY_DSN=" + dsn}, "seed")
	return err
}

// Remedies asks a built gateway for its switches.
func Remedies(ctx context.Context, binary string) (list []Remedy, err error) {
	out, err := Command(ctx, binary, nil, "remedies", "--json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("read the gateway's remedies: %w", err)
	}
	return list, nil
}

// Order returns the order scenario of the gateway's folder; see Scenario.
func Order(folder string) (*scenario.Plan, error) { return Scenario(folder, "order.yaml") }

// Scenario returns a scenario of the gateway's folder, at an address of its own. It builds
// the gateway from there.
func Scenario(folder, name string) (*scenario.Plan, error) {
	address, err := port.Reserve("127.0.0.1")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(folder, "scenario")
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("the scenario: %w", err)
	}
	text = bytes.ReplaceAll(text, []byte("127.0.0.1:8080"), []byte(address))
	plan, err := document.Parse(os.DirFS(dir), name, text)
	if err != nil {
		return nil, err
	}
	plan.Target.Build = folder
	plan.Target.Args = []string{"--addr", address}
	return plan, nil
}
