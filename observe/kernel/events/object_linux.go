//go:build amd64 || arm64

package events

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf" // loads programs and fits them to the running kernel
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// maxTargets is TARGETS of bpf.h.
const maxTargets = 8

// errPermitted is a refusal because of missing privileges.
var errPermitted = errors.New("not permitted (run redline as root or with CAP_BPF and CAP_PERFMON)")

// errAbsent means a kernel that is too old or built without the feature, or a sandbox
// that emulates one.
var errAbsent = errors.New("this kernel lacks it (it takes Linux 5.11 with CONFIG_DEBUG_INFO_BTF and the tracepoint)")

// set is a set of programs that are useful only together.
type set struct {
	tells    string // the data that is missing without it
	programs []string
	optional bool // its absence is not reported
}

// object is one file of programs and the maps they share.
type object struct {
	maps  *ebpf.Collection
	links []link.Link // subtle: an unreferenced link detaches when collected
	// attached are the programs that run: of others, zero would not mean none.
	attached map[string]bool
}

// open creates the maps of an object and attaches its sets, each by itself. It
// returns an error for each set that cannot be attached, unless it is optional; the
// object is nil if no set was attached.
func open(load func() (*ebpf.CollectionSpec, error), sets []set, cache *btf.Cache) (*object, []error) {
	all := func(err error) []error {
		var failed []error
		for _, s := range sets {
			if !s.optional {
				failed = append(failed, fmt.Errorf("no %s: %w", s.tells, explain(err)))
			}
		}
		return failed
	}
	spec, err := load()
	if err != nil {
		return nil, all(err)
	}
	maps := spec.Copy()
	maps.Programs = nil
	o := &object{attached: map[string]bool{}}
	if o.maps, err = ebpf.NewCollection(maps); err != nil {
		return nil, all(err)
	}
	var failed []error
	for _, s := range sets {
		if err := o.attach(spec, s, cache); err != nil && !s.optional {
			failed = append(failed, fmt.Errorf("no %s: %w", s.tells, explain(err)))
		}
	}
	if len(o.links) == 0 {
		o.close()
		return nil, failed
	}
	return o, failed
}

// attach loads and attaches the programs of a set, all or none.
func (o *object) attach(spec *ebpf.CollectionSpec, s set, cache *btf.Cache) error {
	part := spec.Copy()
	part.Programs = map[string]*ebpf.ProgramSpec{}
	for _, name := range s.programs {
		part.Programs[name] = spec.Programs[name]
	}
	programs, err := ebpf.NewCollectionWithOptions(part, ebpf.CollectionOptions{MapReplacements: o.maps.Maps, Cache: cache})
	if err != nil {
		return err
	}
	defer programs.Close() // the links keep the programs
	var links []link.Link
	for _, name := range s.programs {
		l, err := link.AttachTracing(link.TracingOptions{Program: programs.Programs[name]})
		if err != nil {
			for _, l := range links {
				_ = l.Close()
			}
			return fmt.Errorf("attach %s: %w", name, err)
		}
		links = append(links, l)
	}
	o.links = append(o.links, links...)
	for _, name := range s.programs {
		o.attached[name] = true
	}
	return nil
}

// setTargets gives the programs the target's processes.
func (o *object) setTargets(pids [maxTargets]uint32) error {
	return o.maps.Variables["targets"].Set(pids)
}

func (o *object) close() {
	if o == nil {
		return
	}
	for _, l := range o.links {
		_ = l.Close()
	}
	if o.maps != nil {
		o.maps.Close()
	}
}

// explain names the remedy for a failure. The library suspects the limit of locked
// memory behind every refusal; since Linux 5.11 it is rarely the cause.
func explain(err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return errPermitted
	case errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOENT):
		return fmt.Errorf("%w: %s", errAbsent, first(err))
	default:
		return errors.New(first(err))
	}
}

// first returns the first line of an error: the verifier's continue for pages.
func first(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
