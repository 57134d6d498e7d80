package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	unlimited = "9223372036854771712\n"
	v2Mount   = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	v1Mount   = "33 24 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"32 24 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
)

// tree writes files below a new root.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestTrees(t *testing.T) {
	const fs = "/sys/fs/cgroup"
	for _, test := range []struct {
		name, own, mounts string
		files             map[string]string
		want              []Level
	}{
		{"v2, nested", "0::/kube/pod/c\n", v2Mount, map[string]string{
			fs + "/kube/pod/c/memory.max": "max\n", fs + "/kube/pod/c/memory.high": "max\n", fs + "/kube/pod/c/memory.current": "50\n",
			fs + "/kube/pod/memory.max": "500\n", fs + "/kube/pod/memory.current": "200\n", fs +
				"/kube/pod/memory.stat": "anon 100\ninactive_file 60\n",
			fs + "/kube/memory.max": "900\n", fs + "/kube/memory.current": "800\n",
		}, []Level{{500, 140}, {900, 800}}},
		{"v2, high below max", "0::/a\n", v2Mount, map[string]string{
			fs + "/a/memory.max": "500\n", fs + "/a/memory.high": "400\n", fs + "/a/memory.current": "9\n",
		}, []Level{{400, 9}}},
		{"v2, in a namespace", "0::/\n", v2Mount, map[string]string{
			fs + "/memory.max": "700\n", fs + "/memory.current": "70\n",
		}, []Level{{700, 70}}},
		{"v2, member of a group outside of the namespace", "0::/../other\n", v2Mount, map[string]string{
			fs + "/memory.max": "700\n", fs + "/memory.current": "70\n",
		}, []Level{{700, 70}}},
		{"v2, the host's root", "0::/\n", v2Mount, map[string]string{fs + "/cgroup.procs": "1\n"}, nil},
		{"v1, limited above", "4:memory:/a/b\n0::/\n", v1Mount, map[string]string{
			fs + "/memory/a/b/memory.limit_in_bytes": unlimited, fs + "/memory/a/b/memory.usage_in_bytes": "10\n",
			fs + "/memory/a/memory.limit_in_bytes": "300\n", fs + "/memory/a/memory.usage_in_bytes": "99\n", fs +
				"/memory/a/memory.stat": "inactive_file 1\ntotal_inactive_file 9\n",
			fs + "/memory/memory.limit_in_bytes": unlimited,
		}, []Level{{300, 90}}},
		{"v1, mounted at its own group, limited above", "4:cpu,memory:/docker/x\n", "33 24 0:29 /docker/x " + fs +
			"/my\\040memory rw - cgroup cgroup rw,cpu,memory\n", map[string]string{
			fs + "/my memory/memory.limit_in_bytes": unlimited, fs + "/my memory/memory.usage_in_bytes": "10\n",
			fs + "/my memory/memory.stat": "hierarchical_memory_limit 250\n",
		}, []Level{{250, 10}}},
		{"hybrid: memory is under version 1", "4:memory:/a\n0::/b\n", v2Mount + v1Mount, map[string]string{
			fs + "/b/memory.max": "1\n", fs + "/b/memory.current": "1\n",
			fs + "/memory/a/memory.limit_in_bytes": "300\n", fs + "/memory/a/memory.usage_in_bytes": "99\n",
		}, []Level{{300, 99}}},
		{"its own group is gone", "0::/a/gone\n", v2Mount, map[string]string{
			fs + "/a/memory.max": "500\n", fs + "/a/memory.current": "9\n",
		}, []Level{{500, 9}}},
		{"nothing mounted", "0::/a\n", "", nil, nil},
		{"no such name", "0::/a\n", "30 24 0:26 /ab /x rw - cgroup2 cgroup2 rw\n", map[string]string{"/x/memory.max": "5\n", "/x/memory.current": "1\n"}, []Level{{5, 1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"/proc/self/cgroup": test.own, "/proc/self/mountinfo": test.mounts}
			for name, text := range test.files {
				files[name] = text
			}
			g, err := Find(tree(t, files))
			if err != nil {
				t.Fatal(err)
			}
			got, err := g.Memory()
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%v, %v, want %v", got, err, test.want)
			}
		})
	}
}

// What cannot be read is an error, never "no limit".
func TestDamaged(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"a word":    {"memory.max": "lots\n", "memory.current": "1\n"},
		"negative":  {"memory.max": "-1\n", "memory.current": "1\n"},
		"empty":     {"memory.max": "", "memory.current": "1\n"},
		"no usage":  {"memory.max": "500\n"},
		"bad field": {"memory.max": "500\n", "memory.current": "1\n", "memory.stat": "inactive_file x\n"},
		"long line": {"memory.max": "500\n", "memory.current": "1\n", "memory.stat": strings.Repeat("x", 1<<17) + "\ninactive_file 1\n"},
		"too long":  {"memory.max": strings.Repeat("9", 40), "memory.current": "1\n"},
	} {
		all := map[string]string{"/proc/self/cgroup": "0::/a\n", "/proc/self/mountinfo": v2Mount}
		for file, text := range files {
			all["/sys/fs/cgroup/a/"+file] = text
		}
		g, err := Find(tree(t, all))
		if err != nil {
			t.Fatal(err)
		}
		if levels, err := g.Memory(); err == nil {
			t.Errorf("%s: %v and no error", name, levels)
		}
	}
}

func TestNoControlGroups(t *testing.T) {
	g, err := Find(t.TempDir())
	levels, err2 := g.Memory()
	if err != nil || err2 != nil || levels != nil {
		t.Errorf("%v, %v, %v", levels, err, err2)
	}
}

// The kernel's own files: a group is made, and this process enters it for a moment.
func TestThisKernel(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: a control group is made")
	}
	here, err := Find("")
	if err != nil {
		t.Fatal(err)
	}
	if len(here.dirs) == 0 {
		t.Skip("needs a control group with memory")
	}
	home := here.dirs[0]
	dir := filepath.Join(here.dirs[len(here.dirs)-1], "kit-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("needs a writable control group: %v", err)
	}
	pid := []byte(strconv.Itoa(os.Getpid()))
	t.Cleanup(func() {
		if err := os.WriteFile(home+"/cgroup.procs", pid, 0o600); err != nil {
			t.Errorf("back to its own group: %v", err)
		}
		if err := os.Remove(dir); err != nil {
			t.Errorf("remove the group: %v", err)
		}
	})
	name := map[bool]string{true: "memory.max", false: "memory.limit_in_bytes"}[here.v2]
	if err := os.WriteFile(filepath.Join(dir, name), []byte("4294967296"), 0o600); err != nil {
		t.Skipf("needs the memory controller in the group: %v", err)
	}
	if err := os.WriteFile(dir+"/cgroup.procs", pid, 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := Find("")
	if err != nil {
		t.Fatal(err)
	}
	levels, err := g.Memory()
	if err != nil || len(levels) == 0 || levels[0].Limit != 4<<30 || levels[0].Used < 0 || levels[0].Used > 4<<30 {
		t.Errorf("%v, %v, want a level of 4 GiB first", levels, err)
	}
}
