package scripts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/redline-go/redline/service/port"
)

// action is what a runner reads of action.yml.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			Name, ID, Shell, Run string
			Env                  map[string]string
		}
	}
}

// runner runs the action's steps as a forge would: inputs put into the environment,
// each step in a bash of its own that ends at the first error.
type runner struct {
	action
	dir, temp, summary, output string
}

func newRunner(t *testing.T) runner {
	t.Helper()
	r := runner{dir: t.TempDir(), temp: t.TempDir()}
	content, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, &r.action); err != nil {
		t.Fatal(err)
	}
	r.summary, r.output = filepath.Join(r.temp, "summary"), filepath.Join(r.temp, "output")
	return r
}

// run runs all steps and returns the first exit code that is not 0, with what was printed.
func (r runner) run(t *testing.T, inputs map[string]string) (code int, printed string) {
	t.Helper()
	path, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range r.Runs.Steps {
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = r.dir
		cmd.Env = append(cmd.Environ(), "CI=true", "GITHUB_ACTION_PATH="+path, "RUNNER_TEMP="+
			r.temp, "GITHUB_STEP_SUMMARY="+r.summary, "GITHUB_OUTPUT="+r.output)
		for name, value := range step.Env {
			input := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
			given, ok := inputs[input]
			if declared, known := r.Inputs[input]; !known {
				t.Fatalf("step %s reads %s, which is no input", step.Name, value)
			} else if !ok {
				given = declared.Default
			}
			cmd.Env = append(cmd.Env, name+"="+given)
		}
		out, err := cmd.CombinedOutput()
		printed += string(out)
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return exit.ExitCode(), printed
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return 0, printed
}

const tiny = `package main

import (
	"net/http"
	"os"
)

func main() {
	_ = http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
}
`

// TestAction runs the action on a pull request that changes nothing, for two seconds:
// too few to decide anything, which is what it has to say.
func TestAction(t *testing.T) {
	r := newRunner(t)
	address, err := port.Reserve("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(r.dir, "go.mod"), "module example.com/svc\n\ngo 1.24\n")
	write(t, filepath.Join(r.dir, "main.go"), tiny)
	write(t, filepath.Join(r.dir, "scenario.yaml"),
		fmt.Sprintf("target: {build: ., args: [%q], ready: \"http://%s/\"}\nload: {connections: 2}\nrequests:\n- {url: "+
			"\"http://%[2]s/\"}\n", address, address))
	git := func(args ...string) string {
		return strings.TrimSpace(string(run(t, r.dir, nil, "git",
			append([]string{"-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"}, args...)...)))
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "base")
	inputs := map[string]string{"scenario": "scenario.yaml", "base": git("rev-parse", "HEAD"),
		"args": "--max-time 2s --block 200ms --one-at-a-time"}

	code, printed := r.run(t, inputs)
	if code != 3 {
		t.Fatalf("exit %d, want 3\n%s", code, printed)
	}
	for path, want := range map[string]string{r.summary: "### redline: ", r.output: "code=3\n"} {
		if content, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(content), want) {
			t.Errorf("%s: %v: %q", path, err, content)
		}
	}

	inputs["scenario"] = "nowhere.yaml"
	if code, printed := r.run(t, inputs); code != 2 || !strings.Contains(printed, "nowhere.yaml") {
		t.Errorf("no scenario: exit %d\n%s", code, printed)
	}
	inputs["base"] = ""
	if code, printed := r.run(t, inputs); code != 2 || !strings.Contains(printed, "::error title=redline::no base") {
		t.Errorf("no base: exit %d\n%s", code, printed)
	}
}
