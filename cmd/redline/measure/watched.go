package measure

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/web/live"
)

// Steps shows the runs of a verb on one page in a browser, one after the other. Without a page it is nil, and its methods do nothing.
type Steps struct{ watched *watched }

// WebFlag adds --web, which shows a run or each step of a verb that makes several.
func WebFlag(flags *pflag.FlagSet, address *string, what string) {
	flags.StringVar(address, "web", "", "show "+what+" live in a browser, at `[ADDR]` (default 127.0.0.1 and a free port; "+
		"beyond loopback, viewers need the token in the URL)")
	flags.Lookup("web").NoOptDefVal = webAlone
}

// WebAddress removes the address from the arguments if it follows --web after a space, as if the flag required a value.
func WebAddress(address *string, args []string) []string {
	if *address != webAlone {
		return args
	}
	for i, a := range args {
		if _, port, err := net.SplitHostPort(a); err == nil && port != "" && !strings.ContainsAny(a, "/?") {
			*address = a
			return slices.Delete(slices.Clone(args), i, i+1)
		}
	}
	return args
}

// WatchSteps opens the page that --web asks for and passes its URL to say. stop ends the verb as Ctrl-C does. It returns
// nil without --web.
func WatchSteps(cmd *cobra.Command, address, title string, hide *redact.Redactor, stop func(), say func(string)) (*Steps, error) {
	if address == "" {
		return nil, nil
	}
	page, err := live.Open(cmd.Context(), live.Options{
		Address: address, Token: os.Getenv(live.Variable), Title: hide.Text(title), Stop: stop, Note: say,
	})
	if err != nil {
		return nil, fmt.Errorf("--web: %w", err)
	}
	say("watch it at " + page.URL())
	return &Steps{&watched{page: page, hide: hide}}, nil
}

// Event shows an event of the current step on the page.
func (s *Steps) Event(e run.Event) {
	if s != nil {
		s.watched.Event(e)
	}
}

// Follower is the follower of each step's run; nil without a page.
func (s *Steps) Follower() run.Follower {
	if s == nil {
		return nil
	}
	return s.watched
}

// Show ends the page with the result that write writes.
func (s *Steps) Show(write func(io.Writer) error) error {
	if s == nil {
		return nil
	}
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	s.watched.page.Show(page.Bytes())
	return nil
}

// Close sends the end to all viewers; err says why there is no result.
func (s *Steps) Close(ctx context.Context, err error) {
	if s == nil {
		return
	}
	if err == nil {
		err = ctx.Err()
	}
	s.watched.finish(nil, nil, err) // unless the result is shown
	s.watched.Close()
}
