package events

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write objects.sum anew")

// sums is the committed file: the compiler, the generator, and the hash of each
// source and of each file that was made from them.
const sums = "objects.sum"

// TestObjectsAreOfTheirSource: the committed objects and the C beside them belong
// together. With the same compiler they are made again; with another or without one, the
// hashes show that neither was changed without the other.
func TestObjectsAreOfTheirSource(t *testing.T) {
	committed, err := os.ReadFile(sums)
	if err != nil && !*update {
		t.Fatal(err)
	}
	clang := compiler()
	recorded, _, _ := strings.Cut(string(committed), "\n")
	switch {
	case clang == "" && *update:
		t.Fatal("no clang to make the objects with")
	case *update || recorded == "clang "+clang:
		regenerate(t)
	default:
		t.Logf("not made again: they were made with %s, here is %q", recorded, clang)
	}
	if *update {
		if err := os.WriteFile(sums, []byte(summary(t, clang)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if now := summary(t, strings.TrimPrefix(recorded, "clang ")); now != string(committed) {
		t.Errorf("the objects are not of this source (hint: go generate ./observe/kernel/events, then go test "+
			"./observe/kernel/events -run Objects -update); %s is\n%sand would be\n%s", sums, committed, now)
	}
}

// compiler returns clang's version line, "" if there is no clang.
func compiler() string {
	out, err := exec.Command("clang", "--version").Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// summary is what sums should hold.
func summary(t *testing.T, clang string) string {
	t.Helper()
	module, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	generator := regexp.MustCompile(`github\.com/cilium/ebpf v\S+`).Find(module)
	var files []string
	for _, pattern := range []string{"*.h", "*.bpf.c", "generate.go", "*_bpfel.go", "*_bpfel.o"} {
		match, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, match...)
	}
	slices.Sort(files)
	var b strings.Builder
	fmt.Fprintf(&b, "clang %s\nbpf2go %s\n", clang, generator)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), file)
	}
	return b.String()
}

// regenerate makes the objects by the commands of generate.go, in another folder, and
// compares them.
func regenerate(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("generate.go")
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		command, ok := strings.CutPrefix(lines.Text(), "//go:generate go tool bpf2go ")
		if !ok {
			continue
		}
		cmd := exec.Command("sh", "-c", "go tool bpf2go -output-dir '"+dir+"' "+command)
		cmd.Env = append(os.Environ(), "GOPACKAGE=events")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	made, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(made) == 0 {
		t.Fatalf("nothing was made: %v", err)
	}
	for _, file := range made {
		fresh, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if old, err := os.ReadFile(filepath.Base(file)); err != nil || !bytes.Equal(old, fresh) {
			t.Errorf("%s is not what its source makes (hint: go generate ./observe/kernel/events): %v", filepath.Base(file), err)
		}
	}
}
