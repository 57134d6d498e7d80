//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// wrk is closed loop only. The script adds the percentiles that its own table
// leaves out; it runs after the load.
func wrk() *tool {
	const script = `done = function(summary, latency, requests)
  io.write(string.format("quantiles us %d %d %d %d\n", latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max))
end
`
	return &tool{
		name: "wrk",
		arguments: func(s shape, dir string) ([]string, bool) {
			file := filepath.Join(dir, "wrk.lua")
			if dir != "" && os.WriteFile(file, []byte(script), 0o600) != nil {
				return nil, false
			}
			return []string{"-t1", "-c" + strconv.Itoa(s.connections), "-d" + s.seconds(), "-s", file, s.url()},
				s.protocol == http1
		},
		read: func(o output, _ shape, _ string) (tally, error) {
			t := tally{
				Requests: number(o.stdout, `(\d+) requests in`),
				Errors:   number(o.stdout, `Non-2xx or 3xx responses: (\d+)`),
			}
			for _, kind := range []string{"connect", "read", "write", "timeout"} {
				t.Errors += number(o.stdout, `Socket errors:.*`+kind+` (\d+)`)
			}
			for i, q := range []*time.Duration{&t.P50, &t.P99, &t.P999, &t.Max} {
				*q = time.Duration(number(o.stdout, `quantiles us`+repeat(` \d+`, i)+` (\d+)`)) * time.Microsecond
			}
			return t.checked("wrk")
		},
	}
}

// h2load speaks HTTP/2, and HTTP/1.1 on request.
func h2load() *tool {
	return &tool{
		name: "h2load",
		arguments: func(s shape, _ string) ([]string, bool) {
			args := []string{"-t", "1", "-c", strconv.Itoa(s.connections), "-m", strconv.Itoa(s.streams), "-D", fmt.Sprint(s.duration.Seconds())}
			if s.protocol == http1 {
				args = append(args, "--h1")
			}
			return append(args, s.url()), s.protocol != gRPC && s.duration%time.Second == 0
		},
		read: func(o output, _ shape, _ string) (tally, error) {
			t := tally{Requests: number(o.stdout, `(\d+) succeeded`), Errors: number(o.stdout, `(\d+) failed`)}
			return t.checked("h2load")
		},
	}
}

// ab is HTTP/1.0 with keep-alive. It takes room for every request beforehand,
// so the bound on them is kept near its capacity.
func ab() *tool {
	return &tool{
		name: "ab",
		arguments: func(s shape, _ string) ([]string, bool) {
			seconds := int(s.duration.Seconds())
			return []string{"-q", "-k", "-c", strconv.Itoa(s.connections), "-t", strconv.Itoa(seconds), "-n", strconv.Itoa(500_000 * seconds), s.url()},
				s.protocol == http1 && !s.tls && s.duration%time.Second == 0
		},
		read: func(o output, _ shape, _ string) (tally, error) {
			t := tally{Errors: number(o.stdout, `Failed requests:\s+(\d+)`) + number(o.stdout, `Non-2xx responses:\s+(\d+)`)}
			t.Requests = number(o.stdout, `Complete requests:\s+(\d+)`) - t.Errors
			return t.checked("ab")
		},
	}
}

func hey() *tool {
	return &tool{
		name: "hey",
		arguments: func(s shape, _ string) ([]string, bool) {
			args := []string{"-c", strconv.Itoa(s.connections), "-z", s.duration.String()}
			if s.rate > 0 { // its rate is that of each worker
				args = append(args, "-q", fmt.Sprint(s.rate/float64(s.connections)))
			}
			return append(args, s.url()), s.protocol == http1
		},
		read: func(o output, _ shape, _ string) (tally, error) {
			t := tally{
				Requests: number(o.stdout, `\[200\]\s+(\d+) responses`),
				P50:      seconds(o.stdout, `50%%? in ([\d.]+) secs`), P99: seconds(o.stdout, `99%%? in ([\d.]+) secs`),
				Max: seconds(o.stdout, `Slowest:\s+([\d.]+) secs`),
			}
			// Responses of every status, and below its heading errors, each with its count.
			t.Errors = sum(o.stdout, `(?m)^\s+\[\d+\]\s+(\d+) responses`) - t.Requests +
				sum(afterText(o.stdout, "Error distribution:"), `(?m)^\s+\[(\d+)\]`)
			return t.checked("hey")
		},
	}
}

// k6 runs one virtual user per connection, or its open-loop executor.
func k6() *tool {
	const script = `import http from 'k6/http';
export const options = {
  discardResponseBodies: true, insecureSkipTLSVerify: true, summaryTrendStats: ['med', 'p(99)', 'p(99.9)', 'max'],
  scenarios: { load: %s },
};
export default function () { http.get('%s'); }
`
	return &tool{
		name: "k6",
		arguments: func(s shape, dir string) ([]string, bool) {
			scenario := fmt.Sprintf(`{ executor: 'constant-vus', vus: %d, duration: '%s', gracefulStop: '2s' }`, s.connections, s.duration)
			if s.rate > 0 {
				scenario = fmt.Sprintf(`{ executor: 'constant-arrival-rate', rate: %g, timeUnit: '1s', preAllocatedVUs: 300, maxVUs: 512, duration: '%s', gracefulStop: '2s' }`, s.rate, s.duration)
			}
			file := filepath.Join(dir, "k6.js")
			if dir != "" && os.WriteFile(file, fmt.Appendf(nil, script, scenario, s.url()), 0o600) != nil {
				return nil, false
			}
			return []string{"run", "--quiet", "--no-thresholds", "--summary-export", filepath.Join(dir, "k6.json"), file}, s.protocol == http1
		},
		read: func(_ output, _ shape, dir string) (tally, error) {
			var summary struct {
				Metrics map[string]map[string]float64 `json:"metrics"`
			}
			if err := readJSON(filepath.Join(dir, "k6.json"), &summary); err != nil {
				return tally{}, err
			}
			m := summary.Metrics
			ms := func(stat string) time.Duration {
				return time.Duration(m["http_req_duration"][stat] * float64(time.Millisecond))
			}
			t := tally{
				// A rate of failed requests counts them as its "passes".
				Errors: int64(m["http_req_failed"]["passes"]),
				P50:    ms("med"), P99: ms("p(99)"), P999: ms("p(99.9)"), Max: ms("max"),
				Unoffered: int64(m["dropped_iterations"]["count"]),
			}
			t.Requests = int64(m["http_reqs"]["count"]) - t.Errors
			return t.checked("k6")
		},
	}
}

func fortio() *tool {
	return &tool{
		name: "fortio",
		arguments: func(s shape, dir string) ([]string, bool) {
			// A rate of 0 is its word for as fast as it goes.
			return []string{"load", "-quiet", "-c", strconv.Itoa(s.connections), "-qps", fmt.Sprint(s.rate), "-t", s.duration.String(),
				"-r", "0.00001", "-p", "50,99,99.9", "-k", "-json", filepath.Join(dir, "fortio.json"), s.url()}, s.protocol == http1
		},
		read: func(_ output, _ shape, dir string) (tally, error) {
			var result struct {
				DurationHistogram struct {
					Max         float64
					Percentiles []struct{ Percentile, Value float64 }
				}
				RetCodes map[string]int64
			}
			if err := readJSON(filepath.Join(dir, "fortio.json"), &result); err != nil {
				return tally{}, err
			}
			t := tally{Max: fromSeconds(result.DurationHistogram.Max)}
			for code, n := range result.RetCodes {
				if code == "200" {
					t.Requests += n
				} else {
					t.Errors += n
				}
			}
			for _, p := range result.DurationHistogram.Percentiles {
				if to := map[float64]*time.Duration{50: &t.P50, 99: &t.P99, 99.9: &t.P999}[p.Percentile]; to != nil {
					*to = fromSeconds(p.Value)
				}
			}
			return t.checked("fortio")
		},
	}
}

// ghz asks the server's reflection for the schema once, before its load.
func ghz() *tool {
	return &tool{
		name: "ghz",
		arguments: func(s shape, _ string) ([]string, bool) {
			return []string{"--insecure", "--call", echoService + "." + echoMethod, "-d", echoBody,
				"-c", strconv.Itoa(s.connections * s.streams), "--connections", strconv.Itoa(s.connections),
				"-z", s.duration.String(), "--duration-stop", "wait", "-O", "json", s.address}, s.protocol == gRPC
		},
		read: func(o output, _ shape, _ string) (tally, error) {
			var result struct {
				StatusCodes map[string]int64 `json:"statusCodeDistribution"`
				Latencies   []struct {
					Percentage int
					Latency    time.Duration
				} `json:"latencyDistribution"`
				Slowest time.Duration `json:"slowest"`
			}
			if err := json.Unmarshal(o.stdout, &result); err != nil {
				return tally{}, fmt.Errorf("ghz: its result is not JSON: %w", err)
			}
			t := tally{Max: result.Slowest}
			for code, n := range result.StatusCodes {
				if code == "OK" {
					t.Requests += n
				} else {
					t.Errors += n
				}
			}
			for _, l := range result.Latencies {
				switch l.Percentage {
				case 50:
					t.P50 = l.Latency
				case 99:
					t.P99 = l.Latency
				}
			}
			return t.checked("ghz")
		},
	}
}
