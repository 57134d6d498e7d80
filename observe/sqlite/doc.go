// Package sqlite asks SQLite how it reads for the statements of a target whose
// database is within its process: EXPLAIN QUERY PLAN over the database's file.
//
// The target must not notice. A second connection of SQLite's own would take locks
// that a writer of the target meets, and write into the shared memory of the
// write-ahead log, read-only or not. So the file is read as bytes, without a lock,
// through the descriptor that the target has open: /proc/PID/fd leads to it under any
// name, in any container. Pages that stand in the write-ahead log are taken from
// there, up to its last commit. Nothing is written, copied, or left behind. A page
// that changes meanwhile gives an error at worst, and then there is no plan.
//
// Files of others than the target's user (or who runs redline) are not read.
//
// Rejected: a copy of the file, which puts the target's data on disk once more;
// immutable=1 on the file alone, which does not see the log's contents, so for a
// young database not even its tables.
package sqlite
