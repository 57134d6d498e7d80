package revision

import (
	"context"
	"debug/buildinfo"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Commit is git's description of a version of the service.
type Commit struct {
	Hash    string    `json:"commit,omitempty"` // empty outside of git
	Subject string    `json:"subject,omitempty"`
	Branch  string    `json:"branch,omitempty"` // checked out, or named by the CI system; empty if detached
	Time    time.Time `json:"committed,omitzero"`
	// Dirty says that the work tree had changes that no commit holds.
	Dirty bool `json:"dirty,omitempty"`
}

// Describe asks git, in the working directory, about a revision; an empty one is the
// work tree. What git does not know is left empty, except the revision itself: outside
// of git there is nothing to describe.
func Describe(ctx context.Context, revision string) Commit {
	c := Commit{Hash: revision}
	name := revision
	if name == "" {
		name = "HEAD"
	}
	out, err := git(ctx, "", "log", "-1", "--no-show-signature", "--format=%H%x00%cI%x00%s", "--end-of-options", name, "--")
	if err != nil {
		return c
	}
	if fields := strings.SplitN(out, "\x00", 3); len(fields) == 3 {
		c.Hash, c.Subject = fields[0], fields[2]
		c.Time, _ = time.Parse(time.RFC3339, fields[1])
	}
	c.Branch = branch(ctx)
	if revision == "" {
		c.Dirty = dirty(ctx, "")
	}
	return c
}

// DescribeBinary reads the commit from which a command's binary was built (vcs.revision
// of its build information), and asks git, in the working directory, about it. It is
// empty if the binary has none.
func DescribeBinary(ctx context.Context, command []string) Commit {
	if len(command) == 0 {
		return Commit{}
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return Commit{}
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return Commit{}
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["vcs.revision"] == "" {
		return Commit{}
	}
	c := Describe(ctx, settings["vcs.revision"])
	c.Dirty = settings["vcs.modified"] == "true"
	return c
}

// branchVariables name the branch where a CI system has checked out a bare
// commit: GitHub's and Gitea's of a pull request and of a push, GitLab's.
var branchVariables = []string{"GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"}

func branch(ctx context.Context) string {
	name, err := git(ctx, "", "rev-parse", "--abbrev-ref", "HEAD")
	if err == nil && name != "HEAD" {
		return name
	}
	for _, variable := range branchVariables {
		if name := os.Getenv(variable); name != "" {
			return name
		}
	}
	return ""
}
