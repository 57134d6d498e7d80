package decide

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/scalar"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify/session"
)

// side is one side as the flags describe it.
type side struct {
	command, build string
	env            []string
}

// sideFlags adds the flags of both sides.
func sideFlags(flags *pflag.FlagSet, a, b *side) {
	named := []struct {
		name string
		side *side
	}{{"a", a}, {"b", b}}
	for _, s := range named {
		flags.StringVar(&s.side.command, s.name, "", "start side "+s.name+" by command `CMD`")
	}
	for _, s := range named {
		flags.StringVar(&s.side.build, "build-"+s.name, "", "build side "+s.name+" from main package `PKG[@REF]`, "+
			"at git revision REF if given")
	}
	for _, s := range named {
		flags.StringArrayVar(&s.side.env, "env-"+s.name, nil, "set variable `K=V` in side "+s.name+"'s environment; may be repeated")
	}
}

// none reports whether nothing was given for the side.
func (s side) none() bool { return s.command == "" && s.build == "" && len(s.env) == 0 }

// words describes a side, without secrets; a resumed session must have the
// same words.
func (s side) words(plan *scenario.Plan, built revision.Built) string {
	parts := []string{}
	switch {
	case s.command != "":
		words, _ := scalar.SplitCommand(s.command)
		parts = append((*redact.Redactor)(nil).Args(words), executable(words)...)
	case plan.Target.Build != "":
		text := plan.Target.Build
		if s.build != "" {
			text = s.build
		}
		parts = append(parts, revision.ParseSources(text).String())
		if built.Commit != "" {
			parts = append(parts, "at "+built.Commit[:min(12, len(built.Commit))])
		}
		if built.Dirty {
			parts = append(parts, "with changes")
		}
	default:
		parts = append((*redact.Redactor)(nil).Args(plan.Target.Exec), executable(plan.Target.Exec)...)
	}
	for _, pair := range s.env {
		parts = append(parts, variable(pair))
	}
	return strings.Join(parts, " ")
}

// executable identifies the file that a command runs, or that was built, by part of its hash, so that
// a binary rebuilt between an interrupt and --resume counts as another side;
// empty if there is no such file.
func executable(command []string) []string {
	if len(command) == 0 {
		return nil
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return nil
	}
	return []string{fmt.Sprintf("(sha256 %x)", sum.Sum(nil)[:6])}
}

// runtimeVariables are read by every Go program, and hold no secrets.
var runtimeVariables = []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"}

// variable writes a K=V so that a changed value is recognisable but the value itself
// is not: 16 bits of its hash reveal next to nothing about a secret.
func variable(pair string) string {
	name, value, _ := strings.Cut(pair, "=")
	if slices.Contains(runtimeVariables, name) {
		return pair
	}
	sum := sha256.Sum256([]byte(value))
	return fmt.Sprintf("%s=[value %x]", name, sum[:2])
}

// builder builds sides; two of the same sources share a binary.
type builder struct {
	scratch string
	note    func(format string, args ...any)
	done    map[revision.Sources]revision.Built
}

func (b builder) build(ctx context.Context, sources revision.Sources, name string, flags ...string) (revision.Built, error) {
	if built, ok := b.done[sources]; ok {
		return built, nil
	}
	b.note("building %s", sources)
	built, err := revision.Build(ctx, sources, b.scratch, filepath.Join(b.scratch, "target-"+name), flags...)
	if err != nil {
		return built, err
	}
	if built.Dirty {
		b.note("the work tree has uncommitted changes: side %s includes them", name)
	}
	b.done[sources] = built
	return built, nil
}

// prepare makes a side's plan, builds it if needed, and describes it in words.
func (s side) prepare(ctx context.Context, plan *scenario.Plan, name string, b builder) (out session.Side, words string, err error) {
	own := *plan
	out = session.Side{Name: name, Plan: &own}
	own.Target.Env = map[string]string{}
	for k, v := range plan.Target.Env {
		own.Target.Env[k] = v
	}
	for _, pair := range s.env {
		k, v, ok := strings.Cut(pair, "=")
		if !ok || k == "" {
			return out, "", fmt.Errorf("--env-%s %q does not have the form K=V", name, k)
		}
		own.Target.Env[k] = v
	}
	switch {
	case s.command != "":
		command, err := scalar.SplitCommand(s.command)
		if err != nil {
			return out, "", err
		}
		own.Target.Build, own.Target.PID, own.Target.Exec = "", 0, command
		own.Target.BuildFlags = nil
	case s.build != "":
		own.Target.Exec, own.Target.PID, own.Target.Build = nil, 0, revision.ParseSources(s.build).Package
	}
	if own.Target.Build == "" {
		if len(own.Target.Exec) == 0 {
			return out, "", errors.New("no command or package given (hint: --a CMD --b CMD, --build-a PKG@REF --build-b PKG, " +
				"or a scenario with a target and --env-a, --env-b)")
		}
		return out, s.words(&own, revision.Built{}), nil
	}
	sources := revision.ParseSources(s.build)
	if s.build == "" {
		sources = revision.Sources{Package: own.Target.Build}
	}
	built, err := b.build(ctx, sources, name, own.Target.BuildFlags...)
	out.Binary = built.Binary
	if built.Dirty || built.Commit == "" { // else the commit identifies it, in a worktree at any path
		out.Sum = strings.Join(executable([]string{built.Binary}), "")
	}
	return out, s.words(&own, built), err
}
