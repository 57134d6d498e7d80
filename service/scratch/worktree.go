package scratch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// repositorySuffix ends the name of the file next to a worktree that says which
// repository lists it: git may be interrupted before the worktree itself does.
const repositorySuffix = ".repository"

// NoteWorktree notes, before git is asked for a worktree, that the repository with the
// given common git directory (git rev-parse --git-common-dir, absolute) will list root,
// so that it is removed from the list however this process ends. root must be within a
// folder of this package.
func NoteWorktree(root, gitDir string) error {
	if err := os.WriteFile(root+repositorySuffix, []byte(gitDir), 0o600); err != nil {
		return fmt.Errorf("note the worktree: %w", err)
	}
	return nil
}

// ForgetWorktree removes a worktree that was noted, and removes it from its repository's
// list. `git worktree prune` will not do: it removes every worktree that is currently
// absent, even the user's own on a disk that is not mounted.
func ForgetWorktree(root string) error {
	gitDir, err := os.ReadFile(root + repositorySuffix)
	if os.IsNotExist(err) { // forgotten before
		return os.RemoveAll(root)
	}
	if err != nil {
		return fmt.Errorf("find the repository of worktree %s: %w", root, err)
	}
	err = os.RemoveAll(root)
	if err == nil {
		err = unlist(string(gitDir), func(path string) bool { return path == filepath.Join(real(root), ".git") })
	}
	if err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	return os.Remove(root + repositorySuffix)
}

// forgetWorktrees removes the worktrees in a folder from the lists of the repositories
// that are noted directly in it.
func forgetWorktrees(dir string) {
	notes, _ := filepath.Glob(filepath.Join(dir, "*"+repositorySuffix))
	for _, note := range notes {
		if gitDir, err := os.ReadFile(note); err == nil {
			_ = unlist(string(gitDir), func(path string) bool {
				return strings.HasPrefix(path, real(dir)+string(filepath.Separator))
			})
		}
	}
}

// unlist removes from a repository's list the worktrees for whose .git file's path gone
// returns true; see gitrepository-layout(5), worktrees/<id>/gitdir.
func unlist(gitDir string, gone func(path string) bool) error {
	list := filepath.Join(gitDir, "worktrees")
	entries, err := os.ReadDir(list)
	if os.IsNotExist(err) {
		return nil
	}
	for _, e := range entries {
		text, readErr := os.ReadFile(filepath.Join(list, e.Name(), "gitdir"))
		path := strings.TrimSpace(string(text))
		if !filepath.IsAbs(path) { // worktree.useRelativePaths
			path = filepath.Join(list, e.Name(), path)
		}
		if readErr == nil && gone(path) {
			if removeErr := os.RemoveAll(filepath.Join(list, e.Name())); removeErr != nil {
				err = removeErr
			}
		}
	}
	_ = os.Remove(list) // as git does after the last one; it stays if it lists others
	return err
}

// real resolves links in a path like git, as far as the path exists.
func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	if resolved, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(resolved, filepath.Base(path))
	}
	return path
}
