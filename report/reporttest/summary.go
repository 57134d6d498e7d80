package reporttest

import (
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/timebase"
)

// Sick is a summary with every part filled, as a run of a service starved of
// database connections leaves it.
func Sick() *record.Summary {
	return &record.Summary{
		Schema: record.SummarySchema, Run: "runs/20261121-042000-gateway", State: record.Complete,
		Target: record.Target{How: "build", URL: "http://127.0.0.1:8080/api/v1/order"},
		Load: record.LoadSummary{
			Model: "closed", Connections: 64, Duration: 30e9, Requests: 62134, Errors: 12, Rate: 2070.73,
			Latency: histogram.Quantiles{Min: 812_000, Mean: 30_900_000, P50: 28_400_000, P90: 49_100_000, P95: 58_300_000,
				P99: 91_000_000, P999: 1_204_000_000, Max: 2_010_000_000},
			Service: histogram.Quantiles{Min: 810_000, Mean: 30_800_000, P50: 28_300_000, P90: 49_000_000, P95: 58_200_000,
				P99: 90_900_000, P999: 1_200_000_000, Max: 2_009_000_000},
			Status: map[string]int64{"200": 62122, "500": 10}, ErrorKinds: map[string]int64{"status": 10, "timeout": 2},
			Failures: []record.FailureSummary{
				{Kind: "status", Text: "status 500", Request: "order", Count: 10, First: 6_250 * time.Millisecond, Last: 27_400 * time.Millisecond},
				{Kind: "timeout", Text: "no answer within the timeout", Request: "query", Count: 2, First: 18_230 * time.Millisecond, Last: 18_230 * time.Millisecond},
			},
			ErrorLatency: histogram.Quantiles{Min: 900_000, P50: 1_400_000, P99: 10_000_000_000, P999: 10_000_000_000, Max: 10_001_000_000},
			BytesIn:      92_274_688, BytesOut: 9_437_184, InFlight: 3, Established: 63.9, Dials: 81, Reconnects: 17,
			Steps: []record.StepSummary{
				{Name: "query", Requests: 50_000, Errors: 2, Latency: histogram.Quantiles{P50: 27_000_000, P99: 80_000_000, Max: 900_000_000}},
				{Name: "order", Requests: 12_134, Errors: 10, Latency: histogram.Quantiles{P50: 31_000_000, P99: 97_000_000, Max: 2_010_000_000}},
			},
			Checks: []record.CheckResult{
				{Request: "query", Name: "$.items selects something", Passed: 49_998},
				{Request: "order", Name: "body contains \"accepted\"", Passed: 12_000, Failed: 124},
				{Request: "order", Name: "Location is there"},
			},
		},
		Generator: record.Generator{CPU: 4_100_000_000, RequestsPerCPU: 15154, Valid: true},
		Sources: []record.SourceHealth{
			{Name: "goruntime", OK: true, Samples: 300, Align: timebase.Align{P50: 11_200, P99: 48_000}, CPU: 31_000_000},
			{Name: "process", OK: true, Samples: 302, Align: timebase.Align{P50: 21_000, P99: 130_400}, CPU: 210_000_000},
			{Name: "postgres", OK: false, Why: "pg_stat_statements is not installed (to enable: add it to shared_preload_libraries and run CREATE EXTENSION)"},
		},
		Findings: findingsOfSick(),
		NotJudged: []findings.NotJudged{{Cause: "db-slow-query", Why: "no statement statistics"},
			{Cause: "db-n-plus-one", Why: "no statement statistics"}, {Cause: "alloc-hot", Why: "no allocs profile"}},
		Overhead: &record.Overhead{Estimate: 0.011, Low: -0.004, High: 0.026, Confidence: 0.95, Pairs: 8},
		Thresholds: []record.ThresholdResult{
			{Expr: "p99 < 42ms", OK: false, Value: Value(91e6)}, {Expr: "errors < 0.1%", OK: true, Value: Value(0.000193)},
			{Expr: "rate > 1000/s", OK: true, Value: Value(2070.73)}, {Expr: "p99_9 < 2s", OK: false},
		},
		Warnings: []string{"the target logs to standard error at 4 MB/s"},
	}
}

// Value returns a pointer to v.
func Value(v float64) *float64 { return &v }

func findingsOfSick() []findings.Finding {
	return []findings.Finding{
		{
			Rank: 1, Cause: "db-pool-wait", Title: "Requests wait for a database connection", Share: 0.87, ShareOf: "request time",
			Where: findings.Where{Function: "github.com/acme/gateway/store.(*Store).Orders", File: "/src/gateway/store/orders.go", Line: 112},
			Evidence: []findings.Evidence{
				{Text: "24.7 ms of the median request's 28.4 ms pass in database/sql.(*DB).conn", Source: "trace", Value: 24.7e6, Unit: "ns"},
				{Text: "10 of 10 connections in use in 100 % of windows", Source: "probe", Value: 10, Unit: "1"},
				{Text: "the database used 0.3 of 2 CPUs meanwhile", Source: "postgres", Value: 0.3, Unit: "1"},
			},
			Remedy:      "Raise SetMaxOpenConns from 10 towards 32, where the database's CPU is used up, and set SetMaxIdleConns to the same value so that connections are kept.",
			GainCeiling: 7.69, Confidence: findings.High,
			Rejected: []findings.Rejected{{Cause: "db-slow-query", Why: "the slowest statement takes 0.4 ms"},
				{Cause: "cpu-saturated", Why: "the host is 61 % busy"}},
		},
		{
			Rank: 2, Cause: "cpu-json", Title: "Encoding JSON takes the CPU", Share: 0.31, ShareOf: "cpu",
			Where:    findings.Where{Function: "encoding/json.Marshal", File: "/src/gateway/api/order.go", Line: 40},
			Evidence: []findings.Evidence{{Text: "31 % of CPU samples are below encoding/json.Marshal", Source: "profile", Value: 0.31, Unit: "1"}},
			Remedy:   "Generate the encoder.", GainCeiling: 1.449, Confidence: findings.Medium,
		},
		{
			Rank: 3, Cause: "gc-assist", Title: "The tail assists the garbage collector", Share: 0.22, ShareOf: "tail latency",
			Evidence: []findings.Evidence{{Text: "20 ms of a tail request pass in mark assist", Source: "trace", Value: 20e6, Unit: "ns"}},
			Remedy:   "Allocate less in store.scan.", GainCeiling: 1.28, Confidence: findings.Low,
		},
		{Rank: 4, Cause: "cpu-logging", Title: "Logging takes CPU", Share: 0.08, ShareOf: "cpu", GainCeiling: 1.09,
			Confidence: findings.Low,
			Where:      findings.Where{SQL: "SELECT * FROM orders WHERE uid = $1", Detail: "log\x1b[31m file"}},
	}
}

// Healthy is a run without findings, errors and thresholds.
func Healthy() *record.Summary {
	s := Sick()
	s.Findings, s.NotJudged, s.Warnings, s.Overhead, s.Thresholds = nil, nil, nil, nil, nil
	s.Load.Errors, s.Load.ErrorKinds, s.Load.Failures, s.Load.Status = 0, nil, nil, map[string]int64{"200": 62134}
	s.Ledger = &findings.Ledger{RequestTime: []findings.LedgerEntry{{Who: findings.OnCPU, Share: 0.7}, {Who: "database", Share: 0.3}}}
	return s
}
