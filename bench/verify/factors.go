//go:build linux

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/verify/session"
)

// factor is something that differs from launch to launch, or from turn to turn, and that can be held fixed.
type factor struct {
	name, title string
	env         map[string]string
	enter       func() error // in the process that becomes the service; nil for none
}

// factors are what might cause the noise, each fixed alone; the first fixes nothing. The seeds of maps cannot be fixed: Go draws them.
var factors = []factor{
	{name: "nothing", title: "nothing"},
	{name: "layout", title: "the address space (no ASLR)", enter: func() error {
		const addrNoRandomize = 0x0040000 // linux/personality.h
		_, _, errno := unix.Syscall(unix.SYS_PERSONALITY, addrNoRandomize, 0, 0)
		if errno != 0 {
			return errno
		}
		return nil
	}},
	{name: "pages", title: "small pages (no transparent huge ones)", enter: func() error {
		return unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0)
	}},
	{name: "cpu", title: "the service on one CPU", enter: func() error {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			return err
		}
		for cpu := 0; set.Count() > 1; cpu++ {
			set.Clear(cpu)
		}
		return unix.SchedSetaffinity(0, &set)
	}},
	{name: "heap", title: "the heap at which a collection begins (256 MiB)", env: map[string]string{"GOGC": "off", "GOMEMLIMIT": "256MiB"}},
	{name: "plans", title: "PostgreSQL's plans (generic ones from the start)",
		env: map[string]string{"PGOPTIONS": "-c plan_cache_mode=force_generic_plan"}},
}

// become is the argument that makes the bench fix a factor for itself and then become the service.
const become = "become-with"

// becomes runs the service in this process's place: become-with FACTOR BINARY ARGUMENTS.
func becomes(args []string) error {
	if len(args) < 2 {
		return errors.New(become + " FACTOR BINARY ARGUMENTS")
	}
	i := slices.IndexFunc(factors, func(f factor) bool { return f.name == args[0] })
	if i < 0 {
		return fmt.Errorf("no factor %q", args[0])
	}
	if enter := factors[i].enter; enter != nil {
		if err := enter(); err != nil {
			return fmt.Errorf("fixing %s: %w", factors[i].title, err)
		}
	}
	return unix.Exec(args[1], args[1:], os.Environ())
}

// with is a side with a factor fixed. All sides take the same way, also the one without.
func (f factor) with(s session.Side, self string) session.Side {
	plan := *s.Plan
	plan.Target.Env = map[string]string{}
	maps.Copy(plan.Target.Env, s.Plan.Target.Env)
	maps.Copy(plan.Target.Env, f.env)
	plan.Target.Args = append([]string{become, f.name, s.Binary}, s.Plan.Target.Args...)
	return session.Side{Name: s.Name, Plan: &plan, Binary: self}
}
