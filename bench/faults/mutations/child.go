package mutations

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
)

// childEnv makes this binary damage one bundle and end.
const childEnv = "REDLINE_FAULTS_DAMAGE"

// spec is the task of a child.
type spec struct {
	Seed            uint64
	Trial           int
	Light           bool
	Seeds           seeds
	Bundle, Outside string
}

// Damage must be called first by every main whose binary may be started to damage
// a bundle. It returns at once if this process was not.
//
// Damage grows to gigabytes. The kernel counts the memory that a process had resident
// when it started another as memory of that other one (exec sets its maximum to that of
// the address space that it leaves), so a process that measures redline must stay small.
func Damage() {
	text, ok := os.LookupEnv(childEnv)
	if !ok {
		return
	}
	var s spec
	err := json.Unmarshal([]byte(text), &s)
	if err == nil {
		var what string
		if what, err = s.run(); err == nil {
			fmt.Println(what)
			os.Exit(0)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// run copies one of the seeds and damages it, and says which seed and how.
func (s spec) run() (string, error) {
	r := rand.New(rand.NewPCG(s.Seed, uint64(s.Trial)))
	name, err := s.Seeds.copy(r, s.Bundle)
	if err != nil {
		return "", err
	}
	m := mutator{Rand: r, dir: s.Bundle, outside: s.Outside, light: s.Light}
	return name + ", " + m.damage(), nil
}

// child runs it in a process of its own.
func (s spec) child(ctx context.Context) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %.400s", err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
