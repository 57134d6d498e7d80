package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/redline-go/redline/target"
)

// Sources is a package at a git revision: "./cmd/svc@v1.2". An empty revision
// is the work tree as it is.
type Sources struct {
	Package  string
	Revision string
}

// ParseSources splits PKG@REF. The last @ counts, and without one the work tree
// is meant.
func ParseSources(text string) Sources {
	if i := strings.LastIndex(text, "@"); i > 0 {
		return Sources{text[:i], text[i+1:]}
	}
	return Sources{Package: text}
}

func (s Sources) String() string {
	if s.Revision == "" {
		return s.Package + " (work tree)"
	}
	return s.Package + "@" + s.Revision
}

// Built is what came of sources: a binary, the commit that it is of and whether
// the work tree had changes that no commit holds.
type Built struct {
	Binary string
	Commit string // empty outside of git
	Dirty  bool
}

// Build builds sources into the file binary. A revision is checked out into a
// worktree below scratch, which is removed from git's list again; the caller's
// work tree is not touched.
func Build(ctx context.Context, s Sources, scratch, binary string) (b Built, err error) {
	b.Binary = binary
	if s.Revision != "" && filepath.IsAbs(s.Package) {
		return b, fmt.Errorf("build %s: a package at a revision is named by its path in the repository (hint: ./cmd/svc@%s)", s, s.Revision)
	}
	tree, err := Checkout(ctx, "", s.Revision, scratch)
	b.Commit, b.Dirty = tree.Commit, tree.Dirty
	if err != nil {
		return b, fmt.Errorf("build %s: %w", s, err)
	}
	defer func() { err = errors.Join(err, tree.Remove()) }()
	if s.Revision == "" {
		return b, target.Build(ctx, s.Package, binary)
	}
	dir := filepath.Join(tree.Dir, s.Package)
	if _, err := os.Stat(dir); err != nil {
		return b, fmt.Errorf("build %s: that revision has no folder %s", s, filepath.Join(tree.prefix, s.Package))
	}
	if err := target.Build(ctx, dir, binary); err != nil {
		return b, fmt.Errorf("at %s: %w", s.Revision, err)
	}
	return b, nil
}

// Tree is the files of a revision, or the work tree as it is.
type Tree struct {
	Dir    string // what the caller's folder is in it
	Commit string // empty outside of git
	Dirty  bool   // whether a work tree has changes that no commit holds

	from, root, prefix string // the caller's folder, the worktree, and what lies between
}

// Checkout puts a revision into a worktree below scratch; dir is a folder of the
// repository, empty for the working directory. An empty revision is the work tree
// in place, which need not be git's. Remove takes the worktree away again.
func Checkout(ctx context.Context, dir, revision, scratch string) (t Tree, err error) {
	t.Dir, t.from = dir, dir
	if revision == "" {
		if commit, err := git(ctx, dir, "rev-parse", "HEAD"); err == nil {
			status, err := git(ctx, dir, "status", "--porcelain", "--untracked-files=no")
			t.Commit, t.Dirty = commit, err == nil && status != ""
		}
		return t, nil
	}
	if t.Commit, err = git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}"); err != nil {
		return t, fmt.Errorf("no revision %q here (hint: git fetch, or a full clone in CI)", revision)
	}
	if t.prefix, err = git(ctx, dir, "rev-parse", "--show-prefix"); err != nil {
		return t, err
	}
	if t.root, err = os.MkdirTemp(scratch, "worktree-"); err != nil {
		return t, err
	}
	if _, err := git(ctx, dir, "worktree", "add", "--detach", "--force", t.root, t.Commit); err != nil {
		return t, errors.Join(err, t.Remove())
	}
	t.Dir = filepath.Join(t.root, t.prefix)
	return t, nil
}

// Remove takes a worktree away, whatever state it is in; the caller's own is left
// alone. It has a context of its own: an interrupted session must not leave one
// behind.
func (t Tree) Remove() error {
	if t.root == "" {
		return nil
	}
	// Forced twice: a checkout that was cut short is locked.
	_, err := git(context.Background(), t.from, "worktree", "remove", "--force", "--force", t.root)
	if err == nil {
		return nil
	}
	if err := os.RemoveAll(t.root); err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	// It fails for one that is not locked, which is as well.
	_, _ = git(context.Background(), t.from, "worktree", "unlock", t.root)
	_, err = git(context.Background(), t.from, "worktree", "prune")
	return err
}

// git runs git in dir and returns its trimmed output; an error has what it said.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	// Asked to end, it takes back what it began.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", fmt.Errorf("git is not on PATH: %w", err)
		}
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
