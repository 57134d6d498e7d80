package experiment

import (
	"context"
	"errors"
	"slices"

	"github.com/redline-go/redline/experiment/servers"
)

// environment starts the servers that an experiment needs, once for all its launches, and
// returns the variables that say where they are; stop ends them. What this machine lacks is
// left out: the benchmark then says so itself.
func environment(ctx context.Context, e Experiment) (given []string, stop func(), err error) {
	set := new(servers.Set)
	stop = func() { _ = set.Close() } // what does not end is killed, and its folder swept later
	for _, variable := range needs(e) {
		address, err := set.Address(ctx, variable)
		switch {
		case errors.Is(err, servers.ErrMissing):
		case err != nil:
			stop()
			return nil, nil, err
		default:
			given = append(given, variable+"="+address)
		}
	}
	return slices.Clip(given), stop, nil // each side appends its own
}

// needs lists the variables of the servers that an experiment needs.
func needs(e Experiment) []string {
	if e.Folder != "storage" {
		return nil
	}
	return append([]string{servers.Postgres}, more[e.ID]...)
}
