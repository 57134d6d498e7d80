//go:build linux

package generator

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/redline-go/redline/bench/load/process"
	"github.com/redline-go/redline/bench/load/serve"
)

// wrk is closed loop only. The script adds the percentiles that its own table
// leaves out; it runs after the load.
func wrk() *Tool {
	const script = `done = function(summary, latency, requests)
  io.write(string.format("quantiles us %d %d %d %d\n", latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max))
end
`
	return &Tool{
		Name: "wrk",
		Arguments: func(s Shape, dir string) ([]string, bool) {
			file := filepath.Join(dir, "wrk.lua")
			if dir != "" && os.WriteFile(file, []byte(script), 0o600) != nil {
				return nil, false
			}
			return []string{"-t1", "-c" + strconv.Itoa(s.Connections), "-d" + s.seconds(), "-s", file, s.url()},
				s.Protocol == HTTP1
		},
		Read: func(o process.Output, _ Shape, _ string) (Tally, error) {
			t := Tally{
				Requests: number(o.Stdout, `(\d+) requests in`),
				Errors:   number(o.Stdout, `Non-2xx or 3xx responses: (\d+)`),
			}
			for _, kind := range []string{"connect", "read", "write", "timeout"} {
				t.Errors += number(o.Stdout, `Socket errors:.*`+kind+` (\d+)`)
			}
			for i, q := range []*time.Duration{&t.P50, &t.P99, &t.P999, &t.Max} {
				*q = time.Duration(number(o.Stdout, `quantiles us`+repeat(` \d+`, i)+` (\d+)`)) * time.Microsecond
			}
			return t.checked("wrk")
		},
	}
}

// h2load speaks HTTP/2, and HTTP/1.1 on request.
func h2load() *Tool {
	return &Tool{
		Name: "h2load",
		Arguments: func(s Shape, _ string) ([]string, bool) {
			args := []string{"-t", "1", "-c", strconv.Itoa(s.Connections), "-m", strconv.Itoa(s.Streams), "-D",
				fmt.Sprint(s.Duration.Seconds())}
			if s.Protocol == HTTP1 {
				args = append(args, "--h1")
			}
			return append(args, s.url()), s.Protocol != GRPC && s.Duration%time.Second == 0
		},
		Read: func(o process.Output, _ Shape, _ string) (Tally, error) {
			t := Tally{Requests: number(o.Stdout, `(\d+) succeeded`), Errors: number(o.Stdout, `(\d+) failed`)}
			return t.checked("h2load")
		},
	}
}

// ab is HTTP/1.0 with keep-alive. It allocates memory for every request in advance,
// so the limit on requests is kept near its capacity.
func ab() *Tool {
	return &Tool{
		Name: "ab",
		Arguments: func(s Shape, _ string) ([]string, bool) {
			seconds := int(s.Duration.Seconds())
			return []string{"-q", "-k", "-c", strconv.Itoa(s.Connections), "-t", strconv.Itoa(seconds), "-n",
					strconv.Itoa(500_000 * seconds), s.url()},
				s.Protocol == HTTP1 && !s.TLS && s.Duration%time.Second == 0
		},
		Read: func(o process.Output, _ Shape, _ string) (Tally, error) {
			t := Tally{Errors: number(o.Stdout, `Failed requests:\s+(\d+)`) + number(o.Stdout, `Non-2xx responses:\s+(\d+)`)}
			t.Requests = number(o.Stdout, `Complete requests:\s+(\d+)`) - t.Errors
			return t.checked("ab")
		},
	}
}

func hey() *Tool {
	return &Tool{
		Name: "hey",
		Arguments: func(s Shape, _ string) ([]string, bool) {
			args := []string{"-c", strconv.Itoa(s.Connections), "-z", s.Duration.String()}
			if s.Rate > 0 { // its rate is per worker
				args = append(args, "-q", fmt.Sprint(s.Rate/float64(s.Connections)))
			}
			return append(args, s.url()), s.Protocol == HTTP1
		},
		Read: func(o process.Output, _ Shape, _ string) (Tally, error) {
			t := Tally{
				Requests: number(o.Stdout, `\[200\]\s+(\d+) responses`),
				P50:      seconds(o.Stdout, `50%%? in ([\d.]+) secs`), P99: seconds(o.Stdout, `99%%? in ([\d.]+) secs`),
				Max: seconds(o.Stdout, `Slowest:\s+([\d.]+) secs`),
			}
			// Responses of every status and, below their heading, errors, each with its count.
			t.Errors = sum(o.Stdout, `(?m)^\s+\[\d+\]\s+(\d+) responses`) - t.Requests +
				sum(afterText(o.Stdout, "Error distribution:"), `(?m)^\s+\[(\d+)\]`)
			return t.checked("hey")
		},
	}
}

// k6 runs one virtual user per connection, or its open-loop executor.
func k6() *Tool {
	const script = `import http from 'k6/http';
export const options = {
  discardResponseBodies: true, insecureSkipTLSVerify: true, summaryTrendStats: ['med', 'p(99)', 'p(99.9)', 'max'],
  scenarios: { load: %s },
};
export default function () { http.get('%s'); }
`
	return &Tool{
		Name: "k6",
		Arguments: func(s Shape, dir string) ([]string, bool) {
			scenario := fmt.Sprintf(`{ executor: 'constant-vus', vus: %d, duration: '%s', gracefulStop: '2s' }`, s.Connections, s.Duration)
			if s.Rate > 0 {
				scenario = fmt.Sprintf(`{ executor: 'constant-arrival-rate', rate: %g, timeUnit: '1s', preAllocatedVUs: 300, `+
					`maxVUs: 512, duration: '%s', gracefulStop: '2s' }`, s.Rate, s.Duration)
			}
			file := filepath.Join(dir, "k6.js")
			if dir != "" && os.WriteFile(file, fmt.Appendf(nil, script, scenario, s.url()), 0o600) != nil {
				return nil, false
			}
			export := filepath.Join(dir, "k6.json")
			return []string{"run", "--quiet", "--no-thresholds", "--summary-export", export, file}, s.Protocol == HTTP1
		},
		Read: func(_ process.Output, _ Shape, dir string) (Tally, error) {
			var summary struct {
				Metrics map[string]map[string]float64 `json:"metrics"`
			}
			if err := ReadJSON(filepath.Join(dir, "k6.json"), &summary); err != nil {
				return Tally{}, err
			}
			m := summary.Metrics
			ms := func(stat string) time.Duration {
				return time.Duration(m["http_req_duration"][stat] * float64(time.Millisecond))
			}
			t := Tally{
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

func fortio() *Tool {
	return &Tool{
		Name: "fortio",
		Arguments: func(s Shape, dir string) ([]string, bool) {
			// A rate of 0 means as fast as possible.
			return []string{"load", "-quiet", "-c", strconv.Itoa(s.Connections), "-qps", fmt.Sprint(s.Rate), "-t", s.Duration.String(),
				"-r", "0.00001", "-p", "50,99,99.9", "-k", "-json", filepath.Join(dir, "fortio.json"), s.url()}, s.Protocol == HTTP1
		},
		Read: func(_ process.Output, _ Shape, dir string) (Tally, error) {
			var result struct {
				DurationHistogram struct {
					Max         float64
					Percentiles []struct{ Percentile, Value float64 }
				}
				RetCodes map[string]int64
			}
			if err := ReadJSON(filepath.Join(dir, "fortio.json"), &result); err != nil {
				return Tally{}, err
			}
			t := Tally{Max: fromSeconds(result.DurationHistogram.Max)}
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
func ghz() *Tool {
	return &Tool{
		Name: "ghz",
		Arguments: func(s Shape, _ string) ([]string, bool) {
			return []string{"--insecure", "--call", serve.EchoService + "." + serve.EchoMethod, "-d", serve.EchoBody,
				"-c", strconv.Itoa(s.Connections * s.Streams), "--connections", strconv.Itoa(s.Connections),
				"-z", s.Duration.String(), "--duration-stop", "wait", "-O", "json", s.Address}, s.Protocol == GRPC
		},
		Read: func(o process.Output, _ Shape, _ string) (Tally, error) {
			var result struct {
				StatusCodes map[string]int64 `json:"statusCodeDistribution"`
				Latencies   []struct {
					Percentage int
					Latency    time.Duration
				} `json:"latencyDistribution"`
				Slowest time.Duration `json:"slowest"`
			}
			if err := json.Unmarshal(o.Stdout, &result); err != nil {
				return Tally{}, fmt.Errorf("ghz: its result is not JSON: %w", err)
			}
			t := Tally{Max: result.Slowest}
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
