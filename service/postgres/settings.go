package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// setting is one configuration parameter and why it differs from the default.
type setting struct{ name, value, why string }

// baseSettings hold for every cluster. They are chosen for a laptop or a CI
// machine with a few cores that also runs the service and the load.
var baseSettings = []setting{
	{"listen_addresses", "127.0.0.1", "no other host may connect"},
	{"unix_socket_directories", "", "TCP only: the path of a socket is limited to 107 bytes"},
	{"max_connections", "200", "a service with an unlimited pool under 64 connections must churn, not fail"},
	{"shared_buffers", "256MB", "the lab's tables fit, so that reads measure the plan and not the disk"},
	{"shared_preload_libraries", "pg_stat_statements", "what the database did, by statement"},
	{"pg_stat_statements.track", "top", "statements as the service sends them"},
	{"pg_stat_statements.track_planning", "off", "counting plans takes a spinlock per statement and costs throughput"},
	{"pg_stat_statements.save", "off", "nothing outlives the run"},
	{"password_encryption", "scram-sha-256", "as in production: opening a connection has its real price"},
	{"max_parallel_workers_per_gather", "0", "with few cores a scan's cost would be the forking of workers, and vary " +
		"with who else wants them"},
	{"wal_level", "minimal", "no replica; bulk loads into new tables skip the log"},
	{"max_wal_senders", "0", "required by wal_level minimal"},
	{"max_wal_size", "2GB", "no checkpoint in the middle of a measurement"},
	{"checkpoint_timeout", "30min", "likewise"},
	{"log_timezone", "UTC", "log lines do not depend on the machine"},
	{"timezone", "UTC", "neither do timestamps"},
	{"lc_messages", "C", "readiness is recognised by the English log line"},
	{"logging_collector", "off", "the log goes to standard error, where the runner reads it"},
	{"cluster_name", "redline", "recognisable in ps"},
}

// volatileSettings give up crash safety, which throwaway data does not need.
//
// fsync off changes figures: a commit then does not wait for the disk. On a shared disk
// that wait varies by an order of magnitude from minute to minute. It would be the
// largest noise in every comparison that writes, yet say nothing about the service.
// Options.Durable restores it for measurements of the commit itself.
var volatileSettings = []setting{
	{"fsync", "off", "the data dies with the run"},
	{"synchronous_commit", "off", "nothing waits for a flush that does not happen"},
	{"full_page_writes", "off", "only needed after a crash"},
}

// configuration renders postgresql.conf lines; overrides win and are sorted by
// name.
func configuration(durable bool, overrides map[string]string) (string, error) {
	settings := slices.Clone(baseSettings)
	if !durable {
		settings = append(settings, volatileSettings...)
	}
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_.0123456789") != "" {
			return "", fmt.Errorf("setting %q is not a parameter name", name)
		}
		settings = append(settings, setting{name, overrides[name], "override"})
	}
	var b strings.Builder
	for _, s := range settings {
		if strings.ContainsAny(s.value, "\n\r\x00") {
			return "", fmt.Errorf("setting %s: a value must be one line", s.name)
		}
		value := strings.ReplaceAll(strings.ReplaceAll(s.value, `\`, `\\`), "'", "''")
		fmt.Fprintf(&b, "%s = '%s'\n", s.name, value)
	}
	return b.String(), nil
}
