package show

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/notation/inert"
)

// mostSessions bounds how many sessions are printed.
const mostSessions = 1000

func historyTrialsCommand(f *historyFlags) *cobra.Command {
	var last int
	var asked historyFlags
	cmd := &cobra.Command{
		Use:   "trials",
		Short: "Show what tune and knee tried",
		Long: `trials shows the sessions of redline tune and redline knee that --history kept, newest
first: the outcome of each, and every trial or step, including failed ones. redline
history capacity plots the capacities that redline knee found, by commit.`,
		Example: `  redline history trials --history history.db
  redline history trials --last 20 --scenario gateway --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asked.where = f.where
			return asked.trials(cmd, last)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&last, "last", 3, "show the newest `N` sessions")
	flags.StringVar(&asked.scenario, "scenario", "", "only scenario `NAME`, or the one whose hash begins with NAME")
	flags.StringVar(&asked.branch, "branch", "", "only branch `NAME`")
	flags.StringVar(&asked.since, "since", "", "only sessions since `TIME` (2026-01-31, or an age: 90d)")
	flags.BoolVar(&asked.json, "json", false, "print the sessions as JSON ("+history.SessionsSchema+")")
	return cmd
}

func (f *historyFlags) trials(cmd *cobra.Command, last int) error {
	where := cmp.Or(f.where, os.Getenv(history.Variable))
	if where == "" {
		return errNoHistory
	}
	if last < 1 || last > mostSessions {
		return fmt.Errorf("--last %d must be between 1 and %d", last, mostSessions)
	}
	since, err := sinceTime(f.since, time.Now())
	if err != nil {
		return err
	}
	var all []history.Session
	store, err := history.Read(cmd.Context(), where)
	switch {
	case errors.Is(err, history.ErrNone):
		inert.Fprintf(cmd.ErrOrStderr(), "%v (hint: redline tune and knee keep their trials with --history)\n", err)
	case err != nil:
		return err
	default:
		defer store.Close()
		filter := history.Filter{Scenario: f.scenario, Branch: f.branch, Since: since}
		if all, err = store.Sessions(cmd.Context(), filter, last); err != nil {
			return err
		}
		if len(all) == 0 {
			inert.Fprintf(cmd.ErrOrStderr(), "no tune or knee in %s matches (hint: they keep their trials with --history)\n", store.Name())
		}
	}
	if f.json {
		return history.SessionsJSON(cmd.OutOrStdout(), all)
	}
	return history.SessionsText(cmd.OutOrStdout(), all)
}
