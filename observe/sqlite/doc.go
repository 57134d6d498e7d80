// Package sqlite asks SQLite for the plans of the statements of a target whose
// database is embedded in its process: EXPLAIN QUERY PLAN over the database's file.
//
// The target must not notice. A second, ordinary connection would take locks
// that a writer of the target meets, and write into the shared memory of the
// write-ahead log, read-only or not. So the file is read as bytes, without a lock,
// through the descriptor that the target has open: /proc/PID/fd leads to it under any
// name, in any container. Pages that are in the write-ahead log are taken from
// there, up to its last commit. Nothing is written, copied, or left behind. A page
// that changes meanwhile causes an error at worst, and then there is no plan.
//
// Files that belong neither to the target's user nor to redline's are not read.
//
// Rejected: a copy of the file, which puts the target's data on disk once more;
// immutable=1 on the file alone, which does not see the log's contents, and in a
// young database not even its tables.
package sqlite
