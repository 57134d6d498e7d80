package run

// The sources as redline finds them in containers: without what is mounted on a host, and
// without a host's privileges. The test binary masks and drops them for itself and then
// runs its other tests again.

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix" // mounts and capabilities
)

// contained names what the test binary gives up before its tests run: keys of maskings,
// "proc" for a /proc of its own, and "caps" for capabilities.
const contained = "REDLINE_TEST_CONTAINED"

// maskings are what a container lacks, by the word for it.
var maskings = map[string][]string{
	"bpffs":   {"/sys/fs/bpf"},
	"tracefs": {"/sys/kernel/tracing", "/sys/kernel/debug"},
	"btf":     {"/sys/kernel/btf"},
}

// dockers are the capabilities that a container has by default (moby's
// default capabilities).
var dockers = []int{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FSETID, unix.CAP_FOWNER, unix.CAP_MKNOD, unix.CAP_NET_RAW, unix.CAP_SETGID,
	unix.CAP_SETUID, unix.CAP_SETFCAP, unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_CHROOT,
	unix.CAP_KILL, unix.CAP_AUDIT_WRITE,
}

// Subtle: this runs before TestMain, on the first thread, whose privileges exec
// keeps. The new image is the test binary again, that much poorer.
func init() {
	words, reported := os.LookupEnv(contained)
	if !reported {
		return
	}
	err := giveUp(strings.Fields(words))
	if err == nil {
		err = os.Unsetenv(contained)
	}
	if err == nil {
		err = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	fmt.Fprintln(os.Stderr, "contain:", err)
	os.Exit(1)
}

func giveUp(words []string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mounts private: %w", err)
	}
	for _, word := range words {
		for _, dir := range maskings[word] {
			if _, err := os.Stat(dir); err != nil {
				continue // it is not there anyway
			}
			if err := unix.Mount("none", dir, "tmpfs", unix.MS_RDONLY, ""); err != nil {
				return fmt.Errorf("mask %s: %w", dir, err)
			}
		}
		if word == "proc" {
			if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
				return fmt.Errorf("mount /proc: %w", err)
			}
		}
	}
	for _, word := range words {
		if word == "caps" {
			return dropCapabilities()
		}
	}
	return nil
}

// dropCapabilities takes all but a container's from the bounding set, which is
// what root gets on exec.
func dropCapabilities() error {
	keep := map[int]bool{}
	for _, capability := range dockers {
		keep[capability] = true
	}
	for capability := range unix.CAP_LAST_CAP + 1 {
		if keep[capability] {
			continue
		}
		// EINVAL: an older kernel does not know it.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(capability), 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("drop capability %d: %w", capability, err)
		}
	}
	return nil
}

// contain runs tests of this binary again, in namespaces of their own and
// without what the words name.
func contain(t *testing.T, words string, namespaces uintptr, pattern string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to create namespaces")
	}
	if testing.Short() {
		t.Skip("-short: a service and a database are started")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", pattern, "-test.v", "-test.timeout", "5m")
	cmd.Env = append(os.Environ(), contained+"="+words)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | namespaces}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skipf("namespaces cannot be made here: %v", err)
	}
	if err != nil {
		t.Fatalf("without %s: %v\n%s", words, err, out)
	}
	return string(out)
}

// sees asserts which sources conform in an output of TestSourcesConform.
func sees(t *testing.T, out string, names ...string) {
	t.Helper()
	for _, name := range names {
		if !strings.Contains(out, "--- PASS: TestSourcesConform/"+name+"/run_0") {
			t.Errorf("%s sees nothing:\n%s", name, out)
		}
	}
}

// plain are the sources that need nothing of the host.
var plain = []string{"runtime", "profiles", "traces", "process", "container", "netstat", "sockets", "peers", "spans", "collections"}

// Neither a BPF file system nor tracefs is needed for anything.
func TestSourcesConformWithoutBPFFileSystem(t *testing.T) {
	out := contain(t, "bpffs tracefs", 0, "^TestSourcesConform$")
	sees(t, out, plain...)
	if permitted := !strings.Contains(out, "not seen here: eBPF") && !strings.Contains(out, "in a PID namespace of its own"); permitted {
		sees(t, out, "events")
	}
}

// A container with Docker's defaults: a source that needs a privilege or the kernel's own
// description is missing and says so, and all others work.
func TestSourcesConformInAContainer(t *testing.T) {
	for words, reason := range map[string]string{
		"caps":                   "not seen here: eBPF is not permitted",
		"btf bpffs tracefs caps": "not seen here: the kernel provides no type information (BTF)",
	} {
		t.Run(words, func(t *testing.T) {
			out := contain(t, words, 0, "^TestSourcesConform$")
			sees(t, out, plain...)
			if !strings.Contains(out, reason) {
				t.Errorf("nothing says %q:\n%s", reason, out)
			}
		})
	}
	t.Run("with processes of its own", func(t *testing.T) {
		out := contain(t, "proc btf bpffs tracefs caps", unix.CLONE_NEWPID, "^TestSourcesConform$")
		sees(t, out, plain...)
		if !strings.Contains(out, "not seen here: redline is in a PID namespace of its own") {
			t.Errorf("nothing says that the namespace is in the way:\n%s", out)
		}
	})
}

// The doctor's list is complete in a container too.
func TestDoctorInAContainer(t *testing.T) {
	contain(t, "proc btf bpffs tracefs caps", unix.CLONE_NEWPID, "^TestDoctor(MeetsAService)?$")
}
