package database

import "github.com/redline-go/redline/diagnose"

// Causes of time spent on connections and transactions.

var poolWait = diagnose.Cause{
	ID:    "db-pool-wait",
	Title: "Requests wait for a database connection",
	Doc:   "All connections of the pool are in use and requests queue for one, while the database could do more.",
	Knows: "Waits inside database/sql's or pgxpool's acquire, from 20 % of request time and 100 µs. While CPUs are used up a " +
		"queue at the pool is admission control and not named, unless the pool is no larger than the number of CPUs and half " +
		"of the request is spent there. Where the connections are held for long by a slow statement, a lock, repetition or " +
		"an idle transaction, that is the root and the queue is reported with it.",
	Remedy: "Size the pool to the knee (Little's law gives the start), and release connections earlier.",
	Example: diagnose.Example{
		Lang:   "go",
		Before: "db.SetMaxOpenConns(2)",
		After:  "db.SetMaxOpenConns(24) // rate x time held, and some; stop where throughput stops rising\ndb.SetMaxIdleConns(24)",
	},
	Verify: "Run again: the wait for a connection is gone from the anatomy, and throughput rises until the next limit.",
	Cases:  []string{"appointment-desk", "permit-office", "dispatch-desk"},
	FollowsFrom: []string{"db-slow-query", "db-lock-wait", "db-n-plus-one", "db-pool-churn", "db-unprepared",
		"db-unbatched-write", "db-writer-lock", "db-idle-in-tx", "db-conn-leak", "cache-stampede"},
}

var poolChurn = diagnose.Cause{
	ID:    "db-pool-churn",
	Title: "Connections to the database are opened again and again",
	Doc: "The pool closes connections that it needs a moment later: fewer idle ones are kept than are used, or lifetimes are " +
		"short, or there is no pool at all.",
	Knows: "0.02 sessions opened per request (by the server's count, or by waits for a connection being opened), and 10 % of " +
		"request time or CPU spent on it. A pool that opens its connections once is far below.",
	Remedy: "SetMaxIdleConns equal to SetMaxOpenConns (database/sql keeps 2), and a longer lifetime.",
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
	Knows: "Active sessions that wait in an event of class Lock (or for another session): half of one on average, a quarter of " +
		"the active ones, and 15 % of request time. The chains of pg_blocking_pids name who holds the lock, in which " +
		"statement, and who waits. Where the holder is idle in its transaction because the service does something else, that " +
		"is the root (db-idle-in-tx).",
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
}

var idleInTx = diagnose.Cause{
	ID:    "db-idle-in-tx",
	Title: "Transactions stay open while the service does something else",
	Doc: "Between BEGIN and COMMIT the service calls another service or sleeps. The session is idle in transaction, its " +
		"connection and its locks are taken, and other requests queue for them.",
	Knows: "Sessions idle in transaction per request (by Little's law) agree with waits elsewhere below the function that " +
		"begins or ends transactions: each explains at least half of the other. Transactions of fast statements are idle " +
		"between them too, but no such wait explains it. Without a queue for connections or locks (20 % of request time) " +
		"there is no finding. Without --postgres a timeline must show the wait between two steps of the transaction.",
	Remedy: "No other I/O inside a transaction: before it, or after a commit with the outcome recorded in a second one.",
	Example: diagnose.Example{
		Lang: "go",
		Before: "tx, _ := pool.Begin(ctx)\n" +
			"tx.QueryRow(ctx, \"SELECT cents FROM refunds WHERE id = $1 FOR UPDATE\", id)\n" +
			"bank.Transfer(ctx, id) // 12 ms, the row locked\ntx.Commit(ctx)",
		After: "claim(ctx, id)         // a short transaction marks the refund as under way\n" +
			"bank.Transfer(ctx, id)\nsettle(ctx, id)        // another records the outcome",
	},
	Verify: "Run again: sessions idle in transaction are near zero, and so is the queue behind them.",
	Cases:  []string{"refund-desk", "stock-reserve", "sensor-ingest", "wallet-debit"},
}

var connLeak = diagnose.Cause{
	ID:    "db-conn-leak",
	Title: "Connections are taken from the pool and never given back",
	Doc: "Some path returns without closing its rows, ending its transaction or releasing its connection. The pool opens " +
		"another each time, until its limit or the server's, and then requests wait for a connection that never comes.",
	Knows: "Sessions of the database rise in steps over the steady span and never fall, and end at 8 or more above three times " +
		"the requests that are under way without waiting for one; less than half of them are active. A pool that grows in a " +
		"burst has one large step, one that is needed has as many requests under way. What the sessions that sit idle ran last " +
		"names the statement. Without --postgres the pool's own figures serve (redline/probe/pool).",
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
