// Package cgroup reads the memory limits that hold for this process: those of its control group and of every group
// above it that it can see, in versions 1 and 2, also within a namespace of control groups or a container whose mount
// begins at its own group.
//
// It reads memory.max and memory.high (version 2) or memory.limit_in_bytes and hierarchical_memory_limit of
// memory.stat (version 1), and how much of each is used by memory that the kernel cannot drop: memory.current or
// memory.usage_in_bytes, less inactive_file. Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of the
// kernel define them. Where there are no control groups, as on other systems than Linux, there is no limit and no
// error.
package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Level is one group with a limit.
type Level struct {
	// Limit in bytes: beyond it the kernel reclaims hard (memory.high) or kills.
	Limit int64
	// Used is the memory of all processes of the group and of those below it, in bytes, without page cache
	// that can be dropped.
	Used int64
}

// none is the value at which a limit means none: version 1 writes the largest multiple of a page instead of a
// word.
const none = 1 << 60

// Group is the control group of a process. The zero value has no limit.
type Group struct {
	dirs []string // from the process's own group up to the mount's root
	v2   bool
}

// Find finds this process's group. root is prepended to /proc and the mount points, for trees in tests; empty
// means this host.
func Find(root string) (Group, error) {
	own, err := os.ReadFile(filepath.Join(root, "/proc/self/cgroup"))
	if errors.Is(err, fs.ErrNotExist) {
		return Group{}, nil
	} else if err != nil {
		return Group{}, fmt.Errorf("read the process's control group: %w", err)
	}
	mounts, err := os.ReadFile(filepath.Join(root, "/proc/self/mountinfo"))
	if err != nil {
		return Group{}, fmt.Errorf("read where control groups are mounted: %w", err)
	}
	// Memory is under version 1 exactly if that lists it: a hybrid host has both hierarchies.
	group, v2 := memberOf(string(own))
	if group == "" {
		return Group{}, nil
	}
	at, begins, ok := mounted(string(mounts), v2)
	if !ok {
		return Group{}, nil
	}
	g := Group{v2: v2}
	rest := below(group, begins)
	for ; ; rest = path.Dir(rest) {
		// A group that this namespace cannot see, or that is gone, is skipped; those above it still apply.
		dir := filepath.Join(root, at, rest)
		if _, err := os.Stat(dir); err == nil {
			g.dirs = append(g.dirs, dir)
		}
		if rest == "/" {
			return g, nil
		}
	}
}

// memberOf returns the group's path in the hierarchy that governs memory, from /proc/self/cgroup; empty if none does.
func memberOf(text string) (group string, v2 bool) {
	unified := ""
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if slices.Contains(strings.Split(parts[1], ","), "memory") {
			return parts[2], false
		}
		if parts[0] == "0" && parts[1] == "" {
			unified = parts[2]
		}
	}
	return unified, true
}

// mounted returns where the hierarchy is mounted, and the group at which the mount begins. Of several the
// first counts, because the container's own is mounted first.
func mounted(text string, v2 bool) (at, begins string, ok bool) {
	for line := range strings.Lines(text) {
		before, after, found := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !found || len(left) < 6 || len(right) < 3 {
			continue
		}
		v1 := right[0] == "cgroup" && slices.Contains(strings.Split(right[2], ","), "memory")
		if v2 && right[0] == "cgroup2" || !v2 && v1 {
			return unescaped(left[4]), unescaped(left[3]), true
		}
	}
	return "", "", false
}

// unescaped undoes the octal escapes of mountinfo (proc(5)).
func unescaped(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// below returns a group's path from where the mount begins. A group that lies elsewhere, as seen from another
// namespace, is mapped to the mount's root: the closest visible group.
func below(group, begins string) string {
	if strings.Contains(group+"/", "/../") {
		return "/"
	}
	if begins == "/" {
		return path.Clean("/" + group)
	}
	if rest, ok := strings.CutPrefix(group, begins); ok && (rest == "" || rest[0] == '/') {
		return path.Clean("/" + rest)
	}
	return "/"
}

// Memory returns the levels that have a limit, the process's own group first; none if nothing limits it. An error
// means that a limit exists or may exist and cannot be read.
func (g Group) Memory() ([]Level, error) {
	var levels []Level
	for i, dir := range g.dirs {
		limit, err := g.limit(dir, i == len(g.dirs)-1)
		if err != nil {
			return nil, err
		}
		if limit >= none {
			continue
		}
		used, err := g.used(dir)
		if err != nil {
			return nil, err
		}
		levels = append(levels, Level{limit, used})
	}
	return levels, nil
}

// limit reads a group's own limit. The highest visible group also stands for those above it, of which version
// 1 reports the tightest limit.
func (g Group) limit(dir string, highest bool) (int64, error) {
	limit := int64(none)
	for _, name := range map[bool][]string{true: {"memory.max", "memory.high"}, false: {"memory.limit_in_bytes"}}[g.v2] {
		value, err := number(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the root has none
		} else if err != nil {
			return 0, err
		}
		limit = min(limit, value)
	}
	if highest && !g.v2 {
		if value, ok, err := field(filepath.Join(dir, "memory.stat"), "hierarchical_memory_limit"); err != nil {
			return 0, err
		} else if ok {
			limit = min(limit, value)
		}
	}
	return limit, nil
}

func (g Group) used(dir string) (int64, error) {
	usage, cache := "memory.current", "inactive_file"
	if !g.v2 {
		usage, cache = "memory.usage_in_bytes", "total_inactive_file"
	}
	used, err := number(filepath.Join(dir, usage))
	if err != nil {
		return 0, err
	}
	inactive, _, err := field(filepath.Join(dir, "memory.stat"), cache)
	return max(0, used-inactive), err
}

// number reads a file with one number, or the word max.
func number(name string) (int64, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	word := strings.TrimSpace(string(text))
	if word == "max" {
		return none, nil
	}
	value, err := strconv.ParseInt(word, 10, 64)
	if err != nil || value < 0 {
		return 0, fmt.Errorf("%s: %.40q is no number of bytes", name, word)
	}
	return min(value, none), nil
}

// field reads a line "name value" of a file. A file that is absent has no such line.
func field(name, key string) (value int64, ok bool, err error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		word, found := strings.CutPrefix(lines.Text(), key+" ")
		if !found {
			continue
		}
		value, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return 0, false, fmt.Errorf("%s: %s: %.40q is no number of bytes", name, key, word)
		}
		return int64(min(value, none)), true, nil
	}
	if err := lines.Err(); err != nil {
		return 0, false, fmt.Errorf("%s: %w", name, err)
	}
	return 0, false, nil
}
