package cli

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/revision"
)

// HistoryFlag adds the flag --history. The environment variable is not its default,
// because help would show the password in a DSN.
func HistoryFlag(flags *pflag.FlagSet, into *string) {
	flags.StringVar(into, "history", "",
		"keep the result by commit in `FILE|DSN`, a SQLite file or a PostgreSQL ($"+history.Variable+")")
}

// OpenHistory opens the history that flag or environment name; nil when neither
// does. It is called before anything is measured, so that a wrong DSN fails early.
func OpenHistory(ctx context.Context, where string) (*history.Store, error) {
	if where = cmp.Or(where, os.Getenv(history.Variable)); where == "" {
		return nil, nil
	}
	return history.Open(ctx, where)
}

// Keep adds a result to an open history; a nil one keeps nothing. A failure
// is printed and changes no verdict.
func Keep(ctx context.Context, store *history.Store, r history.Result, err error, note func(string, ...any)) {
	if store == nil {
		return
	}
	if err == nil {
		_, err = store.Add(ctx, r)
	}
	if err != nil {
		note("redline: could not add to the history: %v", err)
		return
	}
	note("kept in the history %s%s", store.Name(), OfCommit(r.Commit))
}

// OfCommit names the commit of a result in words that follow "kept".
func OfCommit(c revision.Commit) string {
	switch {
	case c.Hash == "":
		return ", without a commit"
	case c.Dirty:
		return ", from a dirty tree at " + c.Hash[:min(8, len(c.Hash))]
	}
	return ", commit " + c.Hash[:min(8, len(c.Hash))]
}

// KeepRun adds a run that has just been assessed. The commit is the binary's if it
// differs from the work tree's, which may be dirty.
func KeepRun(ctx context.Context, store *history.Store, rec *record.Record, note func(string, ...any)) {
	if store == nil {
		return
	}
	commit := revision.Describe(ctx, "")
	if built := rec.Run.Target.Revision; built != "" && built != commit.Hash {
		commit = revision.Describe(ctx, built)
	}
	r, err := history.FromRun(rec.Dir, commit)
	Keep(ctx, store, r, err, note)
}

// TargetCommit returns the commit that a result of a target counts for: that of the binary which a command
// starts, or else that of the sources at a revision, where an empty one is the work tree. An interrupted
// session has one as well.
func TargetCommit(ctx context.Context, t scenario.Target, at string) revision.Commit {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keeping)
	defer cancel()
	if t.Build == "" && len(t.Exec) > 0 {
		return revision.DescribeBinary(ctx, t.Exec)
	}
	return revision.Describe(ctx, at)
}

// keeping is how long adding to the history may take after an interrupt.
const keeping = 10 * time.Second

// KeepSession adds a session with its trials to an open history; a nil one keeps nothing. An
// interrupted one is kept as well, and a failure is printed and changes no verdict.
func KeepSession(ctx context.Context, store *history.Store, s history.Session, err error, note func(string, ...any)) {
	if store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keeping)
	defer cancel()
	if err == nil {
		err = store.AddSession(ctx, s)
	}
	if err != nil {
		note("redline: could not add the trials to the history: %v", err)
		return
	}
	note("%s kept in the history %s (redline history trials)", notation.Counted(int64(len(s.Trials)), "trial", "trials"), store.Name())
}
