package scratch

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// leave makes what a killed process leaves behind: its folder, which nobody holds.
func leave(t *testing.T, kind string) string {
	t.Helper()
	f, err := New(kind)
	if err != nil {
		t.Fatal(err)
	}
	live.Lock()
	live.folders = slices.DeleteFunc(live.folders, func(other *Folder) bool { return other == f })
	live.Unlock()
	f.marker.Close()
	return f.Path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestSweepTakesWhatHasNoOwner(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	mine, err := New("live")
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Remove()
	if info, err := os.Stat(mine.Path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v: others may enter", info.Mode(), err)
	}
	dead := leave(t, "dead")
	write(t, filepath.Join(dead, "deep", "file"), "x")
	held := leave(t, "held")
	release := Hold([]string{filepath.Join(held, markerName), filepath.Join(tmp, "nowhere")})

	// What a kill leaves of a folder that was being made.
	halves := []string{filepath.Join(tmp, newborn+"1"), filepath.Join(tmp, newborn+"2"), filepath.Join(tmp, newborn+"3")}
	write(t, filepath.Join(halves[1], markerName), "")
	write(t, filepath.Join(halves[2], markerName), markerText[:9])
	if err := os.Mkdir(halves[0], 0o700); err != nil {
		t.Fatal(err)
	}

	Sweep()
	for _, path := range append(halves, dead) {
		if there(path) {
			t.Errorf("%s is left", filepath.Base(path))
		}
	}
	if !there(mine.Path) || !there(held) {
		t.Error("a folder that has an owner was swept")
	}
	release()
	Sweep()
	if there(held) {
		t.Error("a folder that was let go is left")
	}
}

func TestSweepTouchesNothingElse(t *testing.T) {
	tmp, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	precious := filepath.Join(elsewhere, "precious")
	write(t, precious, "x")
	write(t, filepath.Join(elsewhere, markerName), markerText)
	in := func(name string) string { return filepath.Join(tmp, name) }

	write(t, in("redline-notes/mine"), "no marker")
	write(t, in("redline-other/"+markerName), markerText+"and more")
	write(t, in("redline-file"), markerText)
	if err := os.Mkdir(in("redline-empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := func(to, from string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	link(elsewhere, in("redline-link"))
	link(filepath.Join(elsewhere, markerName), in("redline-linked-marker/"+markerName))
	if err := os.MkdirAll(in("redline-pipe"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(in("redline-pipe/"+markerName), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := []string{precious, in("redline-notes/mine"), in("redline-other"), in("redline-file"), in("redline-empty"),
		in("redline-link"), in("redline-linked-marker"), in("redline-pipe")}
	if os.Geteuid() == 0 {
		another := leave(t, "another-user")
		for _, path := range []string{filepath.Join(another, markerName), another} {
			if err := os.Chown(path, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
		kept = append(kept, another)
	} else {
		t.Log("not root: folders of other users are not tried")
	}
	// A link inside a folder of the dead is removed, not followed.
	dead := leave(t, "dead")
	link(elsewhere, filepath.Join(dead, "out"))

	Sweep()
	for _, path := range kept {
		if !there(path) {
			t.Errorf("%s is gone", path)
		}
	}
	if there(dead) {
		t.Error("the folder of the dead is left")
	}
}

// TestManyMakeWhileManySweep: a folder that was handed out is locked by its owner,
// whoever sweeps meanwhile.
func TestManyMakeWhileManySweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	stop := make(chan struct{})
	swept := make(chan struct{})
	for range 2 {
		go func() {
			for {
				select {
				case <-stop:
					swept <- struct{}{}
					return
				default:
					sweep(os.TempDir())
				}
			}
		}()
	}
	for range 200 {
		f, err := New("busy")
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(f.Path, "file"), "x")
		if !there(filepath.Join(f.Path, "file")) {
			t.Fatal("swept")
		}
		if err := f.Remove(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	<-swept
	<-swept
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestWorktreesOfTheDead: the user's own worktrees stay on the list, even one on a disk
// that is not mounted just now.
func TestWorktreesOfTheDead(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	repository := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Dir = repository
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	users := filepath.Join(t.TempDir(), "users-own")
	git("worktree", "add", "-q", "--detach", users)
	if err := os.Rename(users, users+"-away"); err != nil { // unplugged
		t.Fatal(err)
	}
	add := func(folder, name string) string {
		root := filepath.Join(folder, name)
		if err := NoteWorktree(root, filepath.Join(repository, ".git")); err != nil {
			t.Fatal(err)
		}
		git("worktree", "add", "-q", "--detach", root)
		return root
	}
	dead := leave(t, "dead")
	add(dead, "worktree-1")
	// Cut short: listed and locked, and nothing in the folder says by whom.
	cut := add(dead, "worktree-2")
	git("worktree", "lock", cut)
	if err := os.RemoveAll(cut); err != nil {
		t.Fatal(err)
	}
	mine, err := New("live")
	if err != nil {
		t.Fatal(err)
	}
	root := add(mine.Path, "worktree-3")

	Sweep()
	list := git("worktree", "list", "--porcelain")
	if strings.Contains(list, "worktree-1") || strings.Contains(list, "worktree-2") {
		t.Errorf("worktrees of the dead are listed:\n%s", list)
	}
	if !strings.Contains(list, "worktree-3") || !strings.Contains(list, "users-own") {
		t.Errorf("a worktree of the living is not listed:\n%s", list)
	}
	if err := ForgetWorktree(root); err != nil {
		t.Error(err)
	}
	if err := ForgetWorktree(root); err != nil {
		t.Errorf("the second time: %v", err)
	}
	list = git("worktree", "list", "--porcelain")
	if strings.Contains(list, "worktree-3") || !strings.Contains(list, "users-own") {
		t.Errorf("after ForgetWorktree:\n%s", list)
	}
	if err := mine.Remove(); err != nil {
		t.Error(err)
	}
}
