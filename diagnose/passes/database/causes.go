package database

import "github.com/redline-go/redline/diagnose"

// Causes that lie in the statements.

var nPlusOne = diagnose.Cause{
	ID:    "db-n-plus-one",
	Title: "A request runs the same statement many times",
	Doc: "One statement runs several times per request, once for each row of another. Each call is fast; their " +
		"number costs time, and CPU on both sides.",
	Knows: "Calls of a statement per request: one must run 2.5 times per request, all repeated ones together must make two " +
		"calls more than needed, and take 15 % of request time. Without statements, eight database waits per request at one " +
		"place. Different statements that run once each are not repetition; statements that write are " +
		"reported as db-unbatched-write.",
	Remedy: "A join, or one statement with = ANY($1) for all keys; GORM: Preload.",
	Example: diagnose.Example{
		Lang: "go",
		Before: "for i := range dishes {\n\trows, err := pool.Query(ctx, \"SELECT code FROM allergens WHERE dish = $1\", dishes[i].ID)\n" +
			"\t// ...\n}",
		After: "rows, err := pool.Query(ctx, \"SELECT dish, code FROM allergens WHERE dish = ANY($1)\", ids)\n// group the rows by dish",
	},
	Verify: "Run again: calls per request of the statement are 1, and throughput rises.",
	Cases:  []string{"menu-cards", "thread-replies", "roster-board", "product-sheet", "album-tracks"},
}

var unbatchedWrite = diagnose.Cause{
	ID:    "db-unbatched-write",
	Title: "Rows are written one by one",
	Doc: "A request that stores many rows sends a statement for each. Every row costs a round trip and, outside a " +
		"transaction, a commit.",
	Knows: "Like db-n-plus-one, if the most repeated statement is an INSERT, UPDATE, DELETE or MERGE; without statements, if " +
		"the repeated waits are below the client's Exec. One row per request is not reported, however many requests there " +
		"are, and neither is COPY or an INSERT of several rows.",
	Remedy: "One INSERT with several rows or from unnest, COPY, or a pipelined batch, all in one transaction.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "for _, r := range batch {\n\tpool.Exec(ctx, \"INSERT INTO readings VALUES ($1, $2)\", r.Meter, r.Watts)\n}",
		After:  "pool.CopyFrom(ctx, pgx.Identifier{\"readings\"}, []string{\"meter\", \"watts\"}, pgx.CopyFromRows(rows))",
	},
	Verify: "Run again: the statement's calls per request are 1 (or it is gone in favour of COPY), and throughput rises.",
	Cases:  []string{"meter-readings", "guest-import", "sensor-ingest", "import-parts"},
}

var unprepared = diagnose.Cause{
	ID:    "db-unprepared",
	Title: "Statements are prepared for every use",
	Doc: "The driver prepares a statement each time it runs it, or the server parses and plans its text again each time. For " +
		"small results of large joins that costs more than the execution.",
	Knows: "Waits in the driver's prepare, or for the lock under which database/sql registers a statement (15 % of request " +
		"time and 0.3 per request: a statement cache prepares once per connection), or planning at half of planning and " +
		"execution where the server tracks it, or text sent for one use (25 % of request time) while 30 % of " +
		"the server's CPU is not execution. Values written into the text look the same, because the cache has " +
		"never seen the text. For SQLite: a quarter of the service's CPU goes into preparing.",
	Remedy: "Prepared statements kept per connection: the driver's statement cache, db.Prepare at start, no literals in the text.",
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
	Doc: "SQLite lets one connection write at a time. Others that want to write sleep and retry until busy_timeout, or fail " +
		"with SQLITE_BUSY; the longer a transaction, the longer all others wait.",
	Knows: "With drivers written in Go the stack shows the busy handler, which means exactly this wait. Otherwise, the rate times " +
		"the time that a request spends in writing statements is the number of writers at a time (Little's law); above one " +
		"they wait for each other. It is reported from 1.5 at a time and 15 % of request time, or if 2 % of these " +
		"statements fail. The queue for a pool's connections counts too if those that have them sleep in the busy handler for " +
		"half of the time or more. A pool of one connection, which is right for writers, has no such sleep: its queue is " +
		"db-pool-wait, unless whoever has the connection commits for half of the time or more; then commits are the " +
		"cause, and the queue follows from them. Needs a target that redline builds.",
	Remedy: "WAL, shorter transactions, one connection or goroutine that writes, with the rows of several requests in one commit.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "db, _ := sql.Open(\"sqlite\", \"shop.db\") // every request writes over its own connection",
		After: "write, _ := sql.Open(\"sqlite\", " +
			"\"file:shop.db?_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_txlock=immediate\")\n" +
			"write.SetMaxOpenConns(1)\nread, _ := sql.Open(\"sqlite\", \"file:shop.db?mode=ro\")",
	},
	Verify: "Run again: requests within statements that write are at most one at a time, and throughput rises.",
	Cases:  []string{"till-sync"},
}

var saturated = diagnose.Cause{
	ID:    "db-saturated",
	Title: "The database is at its limit",
	Doc:   "The database's CPU is saturated, and no single statement is the reason.",
	Knows: "On a host with saturated CPUs (92 %), the database's processes use 70 % of the CPU but for the generator's, and redline " +
		"found no slow statement, repetition, locks, connection churn or unprepared statements. It is only a hint, because this " +
		"may simply be the service's job. A database on another host is not judged, because its CPU is not visible.",
	Remedy: "A larger or replicated database, a cache for frequent reads, fewer round trips.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "row := pool.QueryRow(ctx, question, member) // for every page view",
		After:  "answer, err, _ := group.Do(key, func() (any, error) { return cached(ctx, member) }) // for some seconds",
	},
	Verify: "Run again: the database's CPU per request falls, and throughput rises.",
	Cases:  []string{"library-desk", "parts-catalogue"},
}

var stampede = diagnose.Cause{
	ID:    "cache-stampede",
	Title: "Requests refill an expired cache entry all at once",
	Doc: "Most requests are answered from memory. When an entry expires, every request fetches it until it is back, " +
		"so the same statement or call comes in bursts, and latency rises with each.",
	Knows: "At most 60 % of requests make the call, and it is always slow; windows without any slow request exceed what " +
		"random misses would leave by 20 % of all windows; there are at least three bursts of four calls. The usual " +
		"calls of a dependency that stalls now and then are fast; a cache that misses at random has no quiet windows. " +
		"The burst does not show whether it asks for one key: keys that expire together look the same, and have the same " +
		"remedy. In a target that redline built, half of the calls beginning while the same call is under way (a GET of the same " +
		"URL, a query with the same values) suffices, whatever the windows show.",
	Remedy: "Single flight per key, refresh before expiry, or random jitter in the expiry times.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "if v, ok := cache.Get(key); ok {\n\treturn v, nil\n}\nreturn fetch(key) // everyone at once",
		After:  "v, err, _ := group.Do(key, func() (any, error) { return fetch(key) }) // one fetches, the others share it",
	},
	Verify: "Run again: calls of the statement (or service) fall to about one per expiry, and p99 comes near p50.",
	Cases:  []string{"front-teaser", "hotel-prices"},
}

// Causes that lie in connections and transactions.

var poolWait = diagnose.Cause{
	ID:    "db-pool-wait",
	Title: "Requests wait for a database connection",
	Doc:   "All connections of the pool are in use and requests queue for one, while the database could do more.",
	Knows: "Waits in the acquire function of database/sql or pgxpool, from 20 % of request time and 100 µs. On saturated CPUs a " +
		"queue at the pool is admission control and not reported, unless the pool is no larger than the number of CPUs and " +
		"half of the request is spent there. If a slow statement, a lock, repetition or an idle transaction holds the " +
		"connections for long, that is the root cause and the queue is reported with it.",
	Remedy: "Raise the pool until throughput stops rising (Little's law gives a first size), and release connections earlier.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "db.SetMaxOpenConns(2)",
		After: "db.SetMaxOpenConns(24) // rate x time held, plus a margin; stop where throughput stops " +
			"rising\ndb.SetMaxIdleConns(24)",
	},
	Verify: "Run again: the wait for a connection is gone from the anatomy, and throughput rises until the next limit.",
	Cases:  []string{"appointment-desk", "permit-office", "dispatch-desk"},
	FollowsFrom: []string{"db-slow-query", "db-lock-wait", "db-n-plus-one", "db-pool-churn", "db-unprepared",
		"db-unbatched-write", "db-writer-lock", "db-idle-in-tx", "db-conn-leak", "cache-stampede"},
}

var poolChurn = diagnose.Cause{
	ID:    "db-pool-churn",
	Title: "Database connections are reopened instead of reused",
	Doc: "The pool closes connections that it needs a moment later: it keeps fewer idle connections than are in use, " +
		"lifetimes are short, or there is no pool at all.",
	Knows: "0.02 sessions opened per request (by the server's count, or by waits for a connection being opened), and 10 % of " +
		"request time or CPU spent on it; on saturated CPUs the database's part counts too. A pool that opens its connections " +
		"once is far below.",
	Remedy: "SetMaxIdleConns equal to SetMaxOpenConns (database/sql keeps 2), and a longer lifetime; one pool that is opened " +
		"at the start.",
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
	Knows: "Active sessions that wait in an event of class Lock (or for another session): 0.5 on average, a quarter of the " +
		"active ones, and 15 % of request time. The chains of pg_blocking_pids show which session holds the lock, in which " +
		"statement, and which ones wait. If the holder is idle in its transaction because the service does something else, " +
		"that is the root cause (db-idle-in-tx).",
	Remedy: "Shorter transactions, no other I/O inside them, locks in one order, hot rows split or updated last.",
	Example: diagnose.Example{
		Lang: "sql",
		Before: "BEGIN;\nUPDATE shows SET left = left - 1 WHERE id = 1; -- everyone waits from here\n" +
			"INSERT INTO sales ...;\nSELECT print();\nCOMMIT;",
		After: "BEGIN;\nINSERT INTO sales ...;\nUPDATE shows SET left = left - 1 WHERE id = 1;\nCOMMIT;\nSELECT print();",
	},
	Verify:      "Run again: sessions that wait for locks are near zero, and throughput rises.",
	Cases:       []string{"wallet-debit", "seat-sale", "number-range", "stock-reserve"},
	FollowsFrom: []string{"db-idle-in-tx"},
	CoveredBy:   []string{"db-slow-query"}, // that the holder runs meanwhile
}

var idleInTx = diagnose.Cause{
	ID:    "db-idle-in-tx",
	Title: "Transactions stay open while the service does something else",
	Doc: "Between BEGIN and COMMIT the service calls another service or sleeps. The session is idle in transaction, it holds " +
		"its connection and its locks, and other requests queue for them.",
	Knows: "Sessions idle in transaction per request (by Little's law) agree with waits elsewhere below the function that " +
		"begins or ends transactions: each explains at least half of the other. Transactions of fast statements are briefly " +
		"idle too, but no such wait explains it. There is no finding unless requests queue for connections or locks (20 % of " +
		"request time). Without --postgres a timeline must show the wait between two steps of the transaction.",
	Remedy: "No other I/O inside a transaction: do it before, or after a commit, and record the outcome in a second transaction.",
	Example: diagnose.Example{
		Lang: "go",
		Before: "tx, _ := pool.Begin(ctx)\n" +
			"tx.QueryRow(ctx, \"SELECT cents FROM refunds WHERE id = $1 FOR UPDATE\", id)\n" +
			"bank.Transfer(ctx, id) // 12 ms, the row locked\ntx.Commit(ctx)",
		After: "claim(ctx, id)         // a short transaction marks the refund as in progress\nbank.Transfer(ctx, " +
			"id)\nsettle(ctx, id)        // another records the outcome",
	},
	Verify: "Run again: sessions idle in transaction are near zero, and so is the queue behind them.",
	Cases:  []string{"refund-desk", "stock-reserve", "sensor-ingest", "wallet-debit"},
}

var connLeak = diagnose.Cause{
	ID:    "db-conn-leak",
	Title: "Connections are taken from the pool and never given back",
	Doc: "Some code path returns without closing its rows, ending its transaction or releasing its connection. The pool " +
		"opens another one each time, until it reaches its limit or the server's; then requests wait for a connection that " +
		"never comes.",
	Knows: "Sessions of the database rise in steps over the steady span and never fall, and end 8 or more above three times " +
		"the requests in progress that do not wait for one; less than half of them are active. A pool that grows in a burst " +
		"has one large step; in a pool that is needed, as many requests are in progress. The last statement of the " +
		"idle sessions shows where they leak. Without --postgres redline uses the pool's own figures (--build, or " +
		"redline/probe/pool).",
	Remedy: "defer rows.Close(), tx.Rollback() or conn.Release() right after the error check.",
	Example: diagnose.Example{
		Lang: "go",
		Before: "rows, err := db.Query(question)\nif err != nil {\n\treturn err\n}\nfor rows.Next() {\n" +
			"\tif expired {\n\t\treturn errExpired // the connection is lost\n\t}\n}",
		After: "rows, err := db.Query(question)\nif err != nil {\n\treturn err\n}\ndefer rows.Close()",
	},
	Verify: "Run again: the database's sessions stay level in the steady span.",
	Cases:  []string{"voucher-redeem", "ticket-holds", "courier-status"},
	Grows:  true,
}
