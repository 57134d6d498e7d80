// Package corpus is the score sheet of the diagnosis: services with a known
// sickness, what redline must find in each, and how its findings are scored.
//
// A case is a folder below corpus/sick, corpus/pair or corpus/healthy with a
// service (main.go), the load on it (scenario.yaml) and what must be found
// (expect.yaml):
//
//	sickness: all transfers take one mutex, and hold it while they write the journal
//	findings:                        # none of a healthy service; two of a pair, the weightier first
//	  - cause: lock-contention       # of docs/causes.md
//	    where: ["(*book).transfer"]  # contained in the function, file:line, statement or detail; one of them is enough
//	    share: [0.6, 1]              # the range that the finding's share must lie in
//	needs: [postgres]                # postgres, backend, cgroup, root
//	backend: ["-latency", "20ms"]    # arguments of corpus/backend, which is then started
//	held: true                       # not used in development: held back for measurement
//
// A healthy case has `healthy:`, which says why it looks suspicious and is well, in
// place of sickness and findings.
//
// The package only reads folders and values; bench/diagnose runs the services,
// and diagnosetest replays recordings of them.
package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml" // strict, and errors with their line
)

// Kind is the folder that contains a case.
type Kind string

// Kinds of cases.
const (
	Sick    Kind = "sick"    // one sickness
	Pair    Kind = "pair"    // two of known weight
	Healthy Kind = "healthy" // looks suspicious, and is well
)

// Kinds returns all kinds, in the order in which they are listed.
func Kinds() []Kind { return []Kind{Sick, Pair, Healthy} }

// What a case may need in addition to the service.
const (
	NeedPostgres = "postgres" // an empty database, $DATABASE_URL
	NeedBackend  = "backend"  // corpus/backend, $BACKEND_URL
	NeedCgroup   = "cgroup"   // control groups that can be written
	NeedRoot     = "root"
)

// Case is one service with the findings that must be made.
type Case struct {
	Name string `yaml:"-"` // of its folder
	Kind Kind   `yaml:"-"`
	Dir  string `yaml:"-"`
	// Sickness says in a sentence what ails the service; a healthy one has Health
	// instead, which says why it looks suspicious and is well.
	Sickness string   `yaml:"sickness"`
	Health   string   `yaml:"healthy"`
	Findings []Expect `yaml:"findings"` // weightiest first
	Needs    []string `yaml:"needs"`
	Backend  []string `yaml:"backend"` // arguments of corpus/backend
	// Held says that the case was not used in development: no analyzer or threshold
	// was made with its help, so that it measures how well the others generalise.
	Held bool `yaml:"held"`
}

// Expect is a finding that must be made.
type Expect struct {
	Cause string `yaml:"cause"`
	// Or holds equivalent causes. They are written with the service, before redline
	// has assessed it.
	Or []string `yaml:"or"`
	// Where holds texts, one of which the finding's place must contain; empty if the
	// cause has no place.
	Where []string `yaml:"where"`
	// Share is the range of the finding's share, both ends included; empty if it is
	// not checked, else two values.
	Share []float64 `yaml:"share"`
}

// Is reports whether a cause is the expected one or an equivalent one.
func (e Expect) Is(cause string) bool { return cause == e.Cause || slices.Contains(e.Or, cause) }

// Files of a case.
const (
	ServiceFile  = "main.go"
	ScenarioFile = "scenario.yaml"
	ExpectFile   = "expect.yaml"
)

// maxExpect bounds an expect.yaml, in bytes.
const maxExpect = 64 << 10

// Load reads the case in a folder whose parent is named after its kind. It
// checks everything that needs only the case; errors name file and line.
func Load(dir string) (Case, error) {
	dir = filepath.Clean(dir)
	path := filepath.Join(dir, ExpectFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return Case{}, fmt.Errorf("corpus: %w", err)
	}
	c, err := parse(data)
	if err != nil {
		return Case{}, fmt.Errorf("corpus: %s: %w", path, err)
	}
	c.Name, c.Kind, c.Dir = filepath.Base(dir), Kind(filepath.Base(filepath.Dir(dir))), dir
	if err := c.check(); err != nil {
		return Case{}, fmt.Errorf("corpus: %s: %w", path, err)
	}
	return c, nil
}

func parse(data []byte) (c Case, err error) {
	if len(data) > maxExpect {
		return c, fmt.Errorf("%d bytes, %d are allowed", len(data), maxExpect)
	}
	defer func() {
		if p := recover(); p != nil { // the library panics on some texts
			err = fmt.Errorf("not YAML: %v", p)
		}
	}()
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), yaml.DisallowUnknownField()).Decode(&c); err != nil {
		return Case{}, errors.New(yaml.FormatError(err, false, true))
	}
	return c, nil
}

// check returns all errors of a case.
func (c Case) check() error {
	var wrong []error
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	wanted, known := map[Kind]int{Sick: 1, Pair: 2, Healthy: 0}[c.Kind]
	switch {
	case !known:
		bad("a case lies in sick/, pair/ or healthy/, not in %s/", c.Kind)
	case len(c.Findings) != wanted:
		bad("%d findings, and a %s case has %d", len(c.Findings), c.Kind, wanted)
	case c.Kind == Healthy && (c.Health == "" || c.Sickness != ""):
		bad("a healthy case says healthy: why it looks suspicious and is well, and no sickness")
	case c.Kind != Healthy && (c.Sickness == "" || c.Health != ""):
		bad("a %s case says in a sentence what its sickness is", c.Kind)
	}
	for _, e := range c.Findings {
		if e.Cause == "" || slices.Contains(e.Where, "") {
			bad("a finding needs a cause, and no where may be empty")
		}
		if s := e.Share; len(s) != 0 && (len(s) != 2 || !(s[0] >= 0 && s[0] <= s[1] && s[1] <= 1)) {
			bad("%s: the share %v is no range within 0 and 1", e.Cause, s)
		}
	}
	for _, need := range c.Needs {
		if !slices.Contains([]string{NeedPostgres, NeedBackend, NeedCgroup, NeedRoot}, need) {
			bad("unknown need %q", need)
		}
	}
	return errors.Join(wrong...)
}

// Wants reports whether the case needs something. One with arguments for the
// backend needs the backend.
func (c Case) Wants(need string) bool {
	return slices.Contains(c.Needs, need) || need == NeedBackend && len(c.Backend) > 0
}

// All reads every case below root, in the order of kind and name. The error
// joins those of the cases that cannot be read; the others are returned with it.
func All(root string) ([]Case, error) {
	var all []Case
	var wrong []error
	for _, kind := range Kinds() {
		dirs, err := os.ReadDir(filepath.Join(root, string(kind)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			wrong = append(wrong, err)
		}
		for _, d := range dirs {
			if !d.IsDir() || strings.HasPrefix(d.Name(), ".") {
				continue
			}
			c, err := Load(filepath.Join(root, string(kind), d.Name()))
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			all = append(all, c)
		}
	}
	return all, errors.Join(wrong...)
}
