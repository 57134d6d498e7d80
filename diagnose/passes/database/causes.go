package database

import "github.com/redline-go/redline/diagnose"

// Causes that lie in the statements.

var nPlusOne = diagnose.Cause{
	ID:    "db-n-plus-one",
	Title: "Each request runs the same statement many times",
	Doc: "One statement runs several times per request, once for each row of another statement. Each call is fast, but their " +
		"number costs time, and CPU on both sides.",
	Knows: "redline counts the calls of each statement per request: one statement must run at least 2.5 times per request, " +
		"and all repeated ones together must make at least two calls more than needed and take at least 15 % of request " +
		"time. Where redline's build counts the service's statements, those that another program or a background task runs do not " +
		"count. Without counts of statements, there must be at least eight database waits per request at one place. Different " +
		"statements that run once each are not repetition; statements that write are reported as db-unbatched-write. In a " +
		"key-value store (Redis, memcached, etcd), a command is a statement: at least 2.5 per request along one path of the " +
		"service's functions, one after another, by the trace.",
	Remedy: "Use a join, or one statement with = ANY($1) for all keys; with GORM, Preload; with Redis, a pipeline or MGET.",
	Example: diagnose.Example{
		Lang: "go",
		Before: "for i := range dishes {\n\trows, err := pool.Query(ctx, \"SELECT code FROM allergens WHERE dish = $1\", dishes[i].ID)\n" +
			"\t// ...\n}",
		After: "rows, err := pool.Query(ctx, \"SELECT dish, code FROM allergens WHERE dish = ANY($1)\", ids)\n// group the rows by dish",
	},
	Verify: "Run again: the statement runs once per request, and throughput rises.",
	Cases:  []string{"menu-cards", "thread-replies", "roster-board", "product-sheet", "album-tracks"},
}

var unbatchedWrite = diagnose.Cause{
	ID:    "db-unbatched-write",
	Title: "Rows are written one by one",
	Doc: "A request that stores many rows sends one statement per row. Every row costs a round trip and, outside a " +
		"transaction, a commit.",
	Knows: "Like db-n-plus-one, if the most repeated statement is an INSERT, UPDATE, DELETE or MERGE; without counts of " +
		"statements, if the repeated waits are below the client's Exec. One row per request is not reported, however many " +
		"requests there are, and neither is COPY or an INSERT of several rows. Commands that write to a key-value store count " +
		"likewise, by the command that the hooks see or the name of the client's method.",
	Remedy: "Use one INSERT with several rows or from unnest, COPY, or a pipelined batch, all in one transaction.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "for _, r := range batch {\n\tpool.Exec(ctx, \"INSERT INTO readings VALUES ($1, $2)\", r.Meter, r.Watts)\n}",
		After:  "pool.CopyFrom(ctx, pgx.Identifier{\"readings\"}, []string{\"meter\", \"watts\"}, pgx.CopyFromRows(rows))",
	},
	Verify: "Run again: the statement runs once per request (or is gone in favour of COPY), and throughput rises.",
	Cases:  []string{"meter-readings", "guest-import", "sensor-ingest", "import-parts"},
}

var unprepared = diagnose.Cause{
	ID:    "db-unprepared",
	Title: "Statements are prepared again for every use",
	Doc: "The driver prepares a statement each time it runs it, or the server parses and plans its text again each time. For " +
		"small results of large joins, that costs more than the execution.",
	Knows: "Any of these: waits in the driver's prepare, or for the lock under which database/sql registers a statement (at " +
		"least 15 % of request time and 0.3 per request, because a statement cache prepares once per connection); planning " +
		"that takes at least half of planning and execution, if the server tracks it; or text sent for one use (at least " +
		"25 % of request time) while at least 30 % of the server's CPU is not execution. Values written into the text look " +
		"the same, because the cache has never seen the text. For SQLite: at least a quarter of the service's CPU goes into " +
		"preparing.",
	Remedy: "Keep prepared statements per connection: use the driver's statement cache, or db.Prepare at start-up, and write " +
		"no literals into the text.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "db.Query(fmt.Sprintf(\"SELECT cents FROM fares WHERE origin = %d\", from))",
		After:  "stmt, err := db.Prepare(\"SELECT cents FROM fares WHERE origin = $1\") // once\nstmt.Query(from)",
	},
	Verify: "Run again: no waits in the driver's prepare, and less of the server's CPU outside execution.",
	Cases:  []string{"postal-rates", "fare-finder"},
	// A statement must be prepared on each new connection.
	FollowsFrom: []string{"db-pool-churn"}, SamePlace: true,
}

var writerLock = diagnose.Cause{
	ID:    "db-writer-lock",
	Title: "Writers wait for SQLite's write lock",
	Doc: "SQLite lets one connection write at a time. Other writers sleep and retry until busy_timeout, or fail with " +
		"SQLITE_BUSY; the longer a transaction takes, the longer they all wait.",
	Knows: "With drivers written in Go, the stack shows the busy handler, which means exactly this wait. Otherwise, the " +
		"request rate times the time that a request spends in writing statements is the number of writers at a time " +
		"(Little's law); if there is more than one, they wait for each other. It is reported at 1.5 writers or more and at " +
		"least 15 % of request time, or if at least 2 % of these statements fail, and as " +
		"many can have met another writer. The queue for a pool's connections counts " +
		"too if their holders sleep in the busy handler for at least half of the time. A pool of one connection, which is " +
		"right for writers, has no such sleep: its queue is db-pool-wait, unless the holder of the connection commits for at " +
		"least half of the time; then commits are the cause, and the queue follows from them. redline must build the service " +
		"(--build).",
	Remedy: "Use WAL, shorter transactions, and one connection or goroutine that writes, with the rows of several requests " +
		"in one commit.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "db, _ := sql.Open(\"sqlite\", \"shop.db\") // every request writes over its own connection",
		After: "write, _ := sql.Open(\"sqlite\", " +
			"\"file:shop.db?_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_txlock=immediate\")\n" +
			"write.SetMaxOpenConns(1)\nread, _ := sql.Open(\"sqlite\", \"file:shop.db?mode=ro\")",
	},
	Verify: "Run again: at most one request at a time is in a writing statement, and throughput rises.",
	Cases:  []string{"till-sync"},
}

var saturated = diagnose.Cause{
	ID:    "db-saturated",
	Title: "The database is at its limit",
	Doc:   "The database's CPU is saturated, and no single statement is the reason.",
	Knows: "On a host with saturated CPUs (at least 92 %), the database's processes use at least 70 % of the CPU in use " +
		"(without the load generator's), and redline found no slow statement, repetition, locks, connection churn or " +
		"unprepared statements. It is only a hint, because this may simply be the service's job. A database on another host " +
		"is not judged, because its CPU is not visible.",
	Remedy: "Use a larger or replicated database, a cache for frequent reads, or fewer round trips.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "row := pool.QueryRow(ctx, query, member) // for every page view",
		After:  "result, err, _ := group.Do(key, func() (any, error) { return cached(ctx, member) }) // for some seconds",
	},
	Verify: "Run again: the database's CPU per request falls, and throughput rises.",
	Cases:  []string{"library-desk", "parts-catalogue"},
}

var stampede = diagnose.Cause{
	ID:    "cache-stampede",
	Title: "Many requests refill an expired cache entry at once",
	Doc: "Most requests are served from memory. When an entry expires, every request fetches it until it is back, so the " +
		"same statement or call comes in bursts, and each burst raises latency.",
	Knows: "At most 60 % of requests make the call, and it is always slow; the windows without any slow request are more " +
		"than random misses would leave, by at least 20 % of all windows; and there are at least three bursts of four calls " +
		"or more. If a dependency stalls now and then, its usual calls are fast; if a cache misses at random, it has no " +
		"quiet windows. The burst does not show whether all its calls fetch one key: keys that expire together look the " +
		"same, and have the same remedy. In a service that redline built, it is enough that half of the calls begin while " +
		"the same call is in flight (a GET of the same URL, a query with the same values), whatever the windows show.",
	Remedy: "Use single flight per key, refresh entries before they expire, or add random jitter to the expiry times.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "if v, ok := cache.Get(key); ok {\n\treturn v, nil\n}\nreturn fetch(key) // everyone at once",
		After:  "v, err, _ := group.Do(key, func() (any, error) { return fetch(key) }) // one fetches, all share the result",
	},
	Verify: "Run again: calls of the statement (or to the service) fall to about one per expiry, and p99 comes near p50.",
	Cases:  []string{"front-teaser", "hotel-prices"},
}

// Causes that lie in connections and transactions.

var poolWait = diagnose.Cause{
	ID:    "db-pool-wait",
	Title: "Requests wait for a database connection",
	Doc:   "All connections of the pool are in use and requests queue for one, while the database could do more.",
	Knows: "Waits in the acquire function of database/sql or pgxpool that take at least 20 % of request time and 100 µs. On " +
		"saturated CPUs a queue at the pool is admission control and not reported, unless the pool is no larger than the " +
		"number of CPUs and requests spend at least half of their time there. If a slow statement, a lock, repetition or an " +
		"idle transaction holds the connections for long, that is the root cause and the queue is reported with it.",
	Remedy: "Raise the pool size until throughput stops rising (Little's law gives a first size), and release connections " +
		"earlier.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "db.SetMaxOpenConns(2)",
		After: "db.SetMaxOpenConns(24) // rate x time held, plus a margin; stop where throughput stops " +
			"rising\ndb.SetMaxIdleConns(24)",
	},
	Verify: "Run again: requests no longer wait for a connection, and throughput rises until the next limit.",
	Cases:  []string{"appointment-desk", "permit-office", "dispatch-desk"},
	FollowsFrom: []string{"db-slow-query", "db-lock-wait", "db-n-plus-one", "db-pool-churn", "db-unprepared",
		"db-unbatched-write", "db-writer-lock", "db-idle-in-tx", "db-conn-leak", "cache-stampede"},
}

var poolChurn = diagnose.Cause{
	ID:    "db-pool-churn",
	Title: "Database connections are reopened instead of reused",
	Doc: "The pool closes connections that it needs a moment later: it keeps fewer idle connections than are in use, " +
		"lifetimes are short, or there is no pool at all.",
	Knows: "The service opens at least 0.02 sessions per request (by the server's count, or by waits for a connection being " +
		"opened) and spends at least 10 % of request time or CPU on that; on saturated CPUs the database's CPU counts too. A " +
		"pool that opens its connections once is far below that.",
	Remedy: "Make SetMaxIdleConns equal to SetMaxOpenConns (database/sql keeps 2 idle connections by default), set longer " +
		"lifetimes, and open one pool, at start-up.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "db.SetMaxOpenConns(40) // MaxIdleConns stays 2",
		After:  "db.SetMaxOpenConns(40)\ndb.SetMaxIdleConns(40)\ndb.SetConnMaxIdleTime(5 * time.Minute)",
	},
	Verify:      "Run again: sessions opened per second are near zero in the steady span.",
	Cases:       []string{"courier-status", "warranty-lookup", "voucher-redeem"},
	FollowsFrom: []string{"db-conn-leak"},
}

var lockWaitCause = diagnose.Cause{
	ID:    "db-lock-wait",
	Title: "Sessions wait for row or table locks",
	Doc:   "Transactions update the same rows or take the same lock, and later ones wait until earlier ones end.",
	Knows: "Active sessions that wait in an event of class Lock (or for another session): at least 0.5 on average, a quarter " +
		"of the active ones, and 15 % of request time. The chains of pg_blocking_pids show which session holds the lock, in " +
		"which statement, and which ones wait. If the holder is idle in its transaction because the service does something " +
		"else, that is the root cause (db-idle-in-tx).",
	Remedy: "Keep transactions short and without other I/O, take locks in one order, and split hot rows or update them last.",
	Example: diagnose.Example{
		Lang: "sql",
		Before: "BEGIN;\nUPDATE shows SET left = left - 1 WHERE id = 1; -- everyone waits from here\n" +
			"INSERT INTO sales ...;\nSELECT print();\nCOMMIT;",
		After: "BEGIN;\nINSERT INTO sales ...;\nUPDATE shows SET left = left - 1 WHERE id = 1;\nCOMMIT;\nSELECT print();",
	},
	Verify:      "Run again: hardly any session waits for a lock, and throughput rises.",
	Cases:       []string{"wallet-debit", "seat-sale", "number-range", "stock-reserve"},
	FollowsFrom: []string{"db-idle-in-tx"},
	CoveredBy:   []string{"db-slow-query"}, // that the holder runs in the meantime
}

var idleInTx = diagnose.Cause{
	ID:    "db-idle-in-tx",
	Title: "Transactions stay open while the service does something else",
	Doc: "Between BEGIN and COMMIT the service calls another service or sleeps. The session is idle in transaction and holds " +
		"its connection and its locks, and other requests queue for them.",
	Knows: "The time that sessions are idle in transaction per request (by Little's law) agrees with the time that requests " +
		"wait for something else below the function that begins or ends transactions: each explains at least half of the " +
		"other. Transactions of fast statements are briefly idle too, but no such wait explains it. There is no finding " +
		"unless requests queue for connections or locks (at least 20 % of request time). Without --postgres, a timeline must " +
		"show the wait between two steps of the transaction.",
	Remedy: "Do no other I/O inside a transaction: do it before, or after a commit, and record the outcome in a second " +
		"transaction.",
	Example: diagnose.Example{
		Lang: "go",
		Before: "tx, _ := pool.Begin(ctx)\n" +
			"tx.QueryRow(ctx, \"SELECT cents FROM refunds WHERE id = $1 FOR UPDATE\", id)\n" +
			"bank.Transfer(ctx, id) // 12 ms, the row locked\ntx.Commit(ctx)",
		After: "claim(ctx, id)         // a short transaction marks the refund as in progress\nbank.Transfer(ctx, " +
			"id)\nsettle(ctx, id)        // another records the outcome",
	},
	Verify: "Run again: hardly any session is idle in transaction or has requests queueing behind it.",
	Cases:  []string{"refund-desk", "stock-reserve", "sensor-ingest", "wallet-debit"},
}

var connLeak = diagnose.Cause{
	ID:    "db-conn-leak",
	Title: "Connections are taken from the pool and never returned",
	Doc: "Some code path returns without closing its rows, ending its transaction or releasing its connection. The pool " +
		"opens another connection each time, until it reaches its limit or the server's; then requests wait for a connection " +
		"that never comes.",
	Knows: "The number of the database's sessions rises in steps over the steady span and never falls. It ends at least 8 " +
		"above three times the number of requests that are in flight and do not wait for a connection, and less than half of " +
		"the sessions are active. A pool that grows in a burst has one large step; a pool that needs its connections has as " +
		"many requests in flight. The last statement of the idle sessions shows where they leak. Without --postgres, redline " +
		"uses the pool's own figures (--build, or redline/probe/pool).",
	Remedy: "Use defer rows.Close(), tx.Rollback() or conn.Release() right after the error check.",
	Example: diagnose.Example{
		Lang: "go",
		Before: "rows, err := db.Query(query)\nif err != nil {\n\treturn err\n}\nfor rows.Next() {\n" +
			"\tif expired {\n\t\treturn errExpired // the connection is lost\n\t}\n}",
		After: "rows, err := db.Query(query)\nif err != nil {\n\treturn err\n}\ndefer rows.Close()",
	},
	Verify: "Run again: the number of the database's sessions stays level in the steady span.",
	Cases:  []string{"voucher-redeem", "ticket-holds", "courier-status"},
	Grows:  true,
}
