package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redline-go/redline/probe/env"
	"github.com/redline-go/redline/probe/probetest"
	"github.com/redline-go/redline/probe/ring"
)

func TestFilesAreOnlyTheProbe(t *testing.T) {
	files, err := Files("example.com/shop")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 || files[AutoDir+"/auto.go"] == nil {
		t.Fatalf("%d files without %s/auto.go", len(files), AutoDir)
	}
	for name, content := range files {
		if strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s is a test", name)
		}
		if bytes.Contains(content, []byte(importPrefix)) {
			t.Errorf("%s still imports from redline's module", name)
		}
	}
}

func TestModulePathIsChecked(t *testing.T) {
	for _, path := range []string{"", "a b", "a\"\nimport \"os", "a\\b", "a`b"} {
		if _, err := Files(path); err == nil {
			t.Errorf("Files(%q) succeeds", path)
		}
		if _, err := Main(path); err == nil {
			t.Errorf("Main(%q) succeeds", path)
		}
	}
}

// service waits until its input ends, and prints what it sees of the probe's
// environment.
const service = `package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	io.Copy(io.Discard, os.Stdin)
	fmt.Print(os.Getenv("REDLINE_PROBE_RING"))
}
`

// TestInjection builds real modules with the probe in an overlay and runs them.
func TestInjection(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("no go command: %v", err)
	}
	tests := []struct {
		name  string
		files map[string]string
		main  string // directory of the main package
		flags []string
	}{
		{"main at the root", map[string]string{
			"go.mod": "module example.com/shop\n\ngo 1.24\n", "main.go": service,
		}, ".", nil},
		{"nested main in a module of old Go", map[string]string{
			"go.mod": "module example.com/shop\n\ngo 1.16\n", "cmd/svc/main.go": service,
		}, "cmd/svc", nil},
		{"vendored", map[string]string{
			"go.mod":                      "module shop\n\ngo 1.24\n\nrequire example.com/dep v1.0.0\n",
			"cmd/svc/main.go":             strings.Replace(service, `"fmt"`, "\"fmt\"\n\t_ \"example.com/dep\"", 1),
			"vendor/modules.txt":          "# example.com/dep v1.0.0\n## explicit; go 1.24\nexample.com/dep\n",
			"vendor/example.com/dep/a.go": "package dep\n",
		}, "cmd/svc", []string{"-mod=vendor"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range test.files {
				write(t, filepath.Join(dir, name), content)
			}
			binary := filepath.Join(dir, "svc")
			args := append([]string{"build", "-overlay", overlay(t, dir, test.main), "-o", binary}, test.flags...)
			build := exec.Command(goTool, append(args, "./"+test.main)...)
			build.Dir = dir
			build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("go build: %v\n%s", err, out)
			}
			runInjected(t, binary, filepath.Join(dir, "ring"))
		})
	}
}

// TestTargetSurvivesTheAgentsDeath kills the process that the probe takes for
// redline: the probe ends, and the program continues and is silent about it.
func TestTargetSurvivesTheAgentsDeath(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("no go command: %v", err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/shop\n\ngo 1.24\n")
	write(t, filepath.Join(dir, "main.go"), service)
	build := exec.Command(goTool, "build", "-overlay", overlay(t, dir, "."), "-o", "svc", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	agent := exec.Command("sleep", "600")
	if err := agent.Start(); err != nil {
		t.Skipf("no process to kill: %v", err)
	}
	path := filepath.Join(dir, "ring")
	cmd := exec.Command(filepath.Join(dir, "svc"))
	cmd.Env = append(os.Environ(), env.Config{Ring: path, Window: 5e6, Agent: agent.Process.Pid}.Environ()...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitSample(t, path)
	r, err := ring.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Ended() {
		t.Error("the probe ended while its agent lived")
	}
	_ = agent.Process.Kill() // it sleeps
	_ = agent.Wait()
	probetest.Await(t, "the probe to end with its agent", func() error {
		if r.Ended() {
			return nil
		}
		return errors.New("it goes on")
	})
	stdin.Close()
	if err := cmd.Wait(); err != nil || out.Len() > 0 {
		t.Errorf("the program ended with %v and printed %q", err, out.String())
	}
}

// overlay writes the probe beside the module and returns the overlay that maps
// it inside.
func overlay(t *testing.T, dir, main string) string {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	module := strings.Fields(string(mod))[1]
	files, err := Files(module)
	if err != nil {
		t.Fatal(err)
	}
	if files[main+"/"+MainFile], err = Main(module); err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	scratch := t.TempDir()
	for name, content := range files {
		real := filepath.Join(scratch, strconv.Itoa(len(replace))+".go")
		write(t, real, string(content))
		replace[filepath.Join(dir, filepath.FromSlash(name))] = real
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(scratch, "overlay.json")
	write(t, path, string(data))
	return path
}

// runInjected runs the program and waits for a sample of its ring.
func runInjected(t *testing.T, binary, path string) {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), env.Config{Ring: path, Window: 5e6}.Environ()...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sample := awaitSample(t, path)
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v: %s", err, out.String())
	}
	if out.Len() > 0 {
		t.Errorf("the program printed %q: its children would inherit the ring, or the probe wrote to its output", out.String())
	}
	if sample.Middle() == 0 {
		t.Error("the sample has no time")
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// awaitSample polls, because nothing reports that another process wrote memory.
func awaitSample(t *testing.T, path string) (s ring.Sample) {
	t.Helper()
	probetest.Await(t, "a sample", func() error {
		r, err := ring.Open(path)
		if err != nil {
			return err
		}
		defer r.Close()
		ok, err := r.Next(&s)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return errors.New("the ring is empty")
		}
		return nil
	})
	return s
}
