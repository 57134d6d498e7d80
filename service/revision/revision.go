package revision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/redline-go/redline/service"
	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/scratch"
)

// Sources is a package at a git revision: "./cmd/svc@v1.2". An empty revision
// is the work tree as it is.
type Sources struct {
	Package  string
	Revision string
}

// ParseSources splits PKG@REF at the last @; without one it means the work tree.
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

// check refuses a package that no revision holds.
func (s Sources) check() error {
	if s.Revision != "" && filepath.IsAbs(s.Package) {
		return fmt.Errorf("build %s: a package at a revision is named by its path in the repository (hint: ./cmd/svc@%s)", s, s.Revision)
	}
	return nil
}

// Built is the result of building sources: a binary, its commit, and whether the work
// tree had uncommitted changes.
type Built struct {
	Binary string
	Commit string // empty outside of git
	Dirty  bool
}

// Build builds sources into the file binary. A revision is checked out into a
// worktree below folder, which is removed from git's list again; the caller's
// work tree is not touched. flags are further ones of go build.
func Build(ctx context.Context, s Sources, folder, binary string, flags ...string) (b Built, err error) {
	b.Binary = binary
	if err := s.check(); err != nil {
		return b, err
	}
	tree, err := Checkout(ctx, "", s.Revision, folder)
	b.Commit, b.Dirty = tree.Commit, tree.Dirty
	if err != nil {
		return b, fmt.Errorf("build %s: %w", s, err)
	}
	defer func() { err = errors.Join(err, tree.Remove()) }()
	if s.Revision == "" {
		return b, service.Build(ctx, s.Package, binary, flags...)
	}
	dir := filepath.Join(tree.Dir, s.Package)
	if _, err := os.Stat(dir); err != nil {
		return b, fmt.Errorf("build %s: that revision has no folder %s", s, filepath.Join(tree.prefix, s.Package))
	}
	if err := service.Build(ctx, dir, binary, flags...); err != nil {
		return b, fmt.Errorf("at %s: %w", s.Revision, err)
	}
	return b, nil
}

// BuildID returns service.BuildID of sources. A revision is checked out below folder, as in Build.
func BuildID(ctx context.Context, s Sources, folder string, flags ...string) (id string, err error) {
	if err := s.check(); err != nil {
		return "", err
	}
	tree, err := Checkout(ctx, "", s.Revision, folder)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", s, err)
	}
	defer func() { err = errors.Join(err, tree.Remove()) }()
	pkg := s.Package
	if s.Revision != "" {
		pkg = filepath.Join(tree.Dir, s.Package)
	}
	if id, err = service.BuildID(ctx, pkg, folder, flags...); err != nil {
		return "", fmt.Errorf("at %s: %w", s, err)
	}
	return id, nil
}

// Tree is the files of a revision, or the work tree as it is.
type Tree struct {
	Dir    string // the counterpart of the caller's folder
	Commit string // empty outside of git
	Dirty  bool   // whether a work tree has uncommitted changes

	from, root, prefix string // the caller's folder, the worktree, and the path between
}

// Checkout puts a revision into a worktree below folder, which must be within a folder of
// package scratch; dir is a folder of the repository, empty for the working directory. An
// empty revision is the work tree in place, which need not be git's. Remove removes the
// worktree.
func Checkout(ctx context.Context, dir, revision, folder string) (t Tree, err error) {
	t.Dir, t.from = dir, dir
	if revision == "" {
		if commit, err := git(ctx, dir, "rev-parse", "HEAD"); err == nil {
			t.Commit, t.Dirty = commit, dirty(ctx, dir)
		}
		return t, nil
	}
	if t.Commit, err = git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}"); err != nil {
		return t, fmt.Errorf("no revision %q here (hint: git fetch, or a full clone in CI)", revision)
	}
	if t.prefix, err = git(ctx, dir, "rev-parse", "--show-prefix"); err != nil {
		return t, err
	}
	if t.root, err = os.MkdirTemp(folder, "worktree-"); err != nil {
		return t, err
	}
	common, err := git(ctx, dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err == nil {
		err = scratch.NoteWorktree(t.root, common)
	}
	if err != nil {
		return t, errors.Join(err, os.RemoveAll(t.root))
	}
	if _, err := git(ctx, dir, "worktree", "add", "--detach", "--force", t.root, t.Commit); err != nil {
		return t, errors.Join(err, t.Remove())
	}
	t.Dir = filepath.Join(t.root, t.prefix)
	return t, nil
}

// dirty reports whether the work tree of a folder has changes that no commit holds.
func dirty(ctx context.Context, dir string) bool {
	status, err := git(ctx, dir, "status", "--porcelain", "--untracked-files=no")
	return err == nil && status != ""
}

// Remove removes a worktree, whatever state it is in; the caller's own is left alone. It
// uses a context of its own: an interrupted session must not leave a worktree behind.
func (t Tree) Remove() error {
	if t.root == "" {
		return nil
	}
	// Leftovers of git are removed without it. Forced twice: a checkout
	// that was cut short is locked.
	_, _ = git(context.Background(), t.from, "worktree", "remove", "--force", "--force", t.root)
	return scratch.ForgetWorktree(t.root)
}

// git runs git in dir and returns its trimmed output; an error holds its stderr.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	// Asked to end, it undoes its unfinished work.
	out, err := guard.Output(ctx, cmd, syscall.SIGINT)
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", fmt.Errorf("git is not on PATH: %w", err)
		}
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
