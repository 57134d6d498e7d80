package show

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/web/shelf"
)

// ServeCommand returns the verb serve.
func ServeCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show the saved runs in a browser",
		Long: `serve shows the runs saved in DIR (default runs) in a browser: a searchable list, each
run's page, and any two runs side by side. It first prints the URL, then serves until
Ctrl-C. It reads bundles and never changes them.

On loopback only your own user and root have access. At an address that other machines
can reach, viewers need the token in the URL: a new one each time, or the one in
$` + shelf.Variable + `. The connection is not encrypted: put a TLS proxy in front of it,
or use an SSH tunnel.`,
		Example: `  redline serve
  redline serve runs --listen 127.0.0.1:8090`,
		Args: cli.Takes(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "runs"
			if len(args) == 1 {
				dir = args[0]
			}
			s, err := shelf.Listen(cmd.Context(), dir, address, os.Getenv(shelf.Variable))
			if err != nil {
				return err
			}
			inert.Fprintf(cmd.OutOrStdout(), "%s\n", s.URL())
			return s.Serve(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:0", "serve at `ADDR`; port 0 picks a free one")
	return cmd
}
