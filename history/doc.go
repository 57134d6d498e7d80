// Package history keeps results by commit, and finds the commits at which a
// service became slower or faster for good.
//
// A result holds the figures of one commit by one run, comparison or benchmark: a
// value per metric, with the machine and the scenario that it was measured by.
// Results lie in a SQLite file, or in a PostgreSQL database that a team shares;
// the SQL is the same for both. Nothing is written unless it is asked for.
//
// Values are only compared with their like: same metric and unit, same scenario
// by its hash, same kind of measurement, same machine by its fingerprint. Each
// such series has one point per commit, the median of its results, in the order
// of the commits' dates; results of a dirty tree belong to no commit
// and are left out unless asked for. Changes of level are found by stat.ChangePoints.
//
// A history is no gate: it speaks of levels of several commits, so a change is
// detectable from the second commit after it on. verify judges a single commit.
//
// Tried and rejected: a threshold on the change to the commit before (noise
// crosses it, and slow decline does not); one file per result in a folder (two
// processes that add at once, and a team, are what databases are for); schemas
// of each database's own types (two dialects to keep alike for a table of eight
// hundred rows a year).
package history
