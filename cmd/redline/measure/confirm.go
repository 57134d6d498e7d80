package measure

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
)

// confirm asks before load goes to a host that is not this one and that the
// scenario does not name, and warns before logged writes are sent. Without a
// person to ask, such a host is an error unless --yes was given.
func (f *Flags) confirm(cmd *cobra.Command, plan *scenario.Plan) error {
	warning := cmd.ErrOrStderr()
	if r := plan.Load.Replay; r != nil && r.Writes != "" {
		inert.Fprintf(warning, "redline: the replay sends writes to %s: %s\n", plan.Requests[0].URL, r.Writes)
	}
	hosts, described, err := run.Elsewhere(cmd.Context(), plan)
	if err != nil || len(hosts) == 0 {
		return err
	}
	about := "load on " + strings.Join(described, ", ") + ": not this host, and not among the hosts that the scenario names"
	if !f.Yes {
		if !terminalIn(cmd.InOrStdin()) || !cli.Terminal(warning) {
			return fmt.Errorf("%s (hint: hosts: [%s] in the scenario, or --yes)", about, strings.Join(hosts, ", "))
		}
		inert.Fprintf(warning, "%s. Continue? [y/N] ", about)
		if err := agreed(cmd.Context(), cmd.InOrStdin()); err != nil {
			return err
		}
	}
	inert.Fprintf(warning, "redline: %s; confirmed\n", about)
	plan.Hosts = append(plan.Hosts, hosts...)
	return nil
}

// terminalIn reports whether a person can answer at r.
func terminalIn(r io.Reader) bool {
	w, ok := r.(io.Writer)
	return ok && cli.Terminal(w)
}

// agreed reads a yes, or returns an error.
func agreed(ctx context.Context, in io.Reader) error {
	answer := make(chan string, 1)
	go func() {
		// A read of a terminal cannot be cut short; the process ends with it.
		line, _ := bufio.NewReader(io.LimitReader(in, 80)).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return cli.Exit(cli.ExitInterrupted, errors.New("interrupted before anything was measured"))
	case answer := <-answer:
		if answer == "y" || answer == "yes" {
			return nil
		}
		return errors.New("not confirmed: no load was sent")
	}
}
