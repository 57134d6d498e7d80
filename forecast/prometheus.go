package forecast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/redact"
)

// mostAnswer bounds the bytes read of a reply; Prometheus's own limit is 11,000 points per
// series, of some 40 bytes each.
const mostAnswer = 8 << 20

// mostPerQuery is Prometheus's limit of points (web/api/v1, query_range).
const mostPerQuery = 11_000

// client gives up on a Prometheus that does not answer. Its own limit of a query is two minutes (--query.timeout).
var client = &http.Client{Timeout: 150 * time.Second}

// Range is a query to Prometheus.
type Range struct {
	URL      string // base, such as http://127.0.0.1:9090; user and password in it are sent
	Query    string // PromQL that yields one series
	From, To time.Time
	Step     time.Duration
}

// Query reads a history from Prometheus through its HTTP API (/api/v1/query_range). Errors
// contain neither user nor password.
func Query(ctx context.Context, r Range) ([]Point, error) {
	base, err := url.Parse(r.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, errors.New("prometheus: the URL is not one of http or https")
	}
	if r.Step <= 0 || !r.To.After(r.From) {
		return nil, errors.New("prometheus: the range is empty")
	}
	if r.To.Sub(r.From)/r.Step >= mostPerQuery {
		return nil, fmt.Errorf("prometheus: it returns at most %d points (hint: a longer --step or a shorter --since)",
			mostPerQuery)
	}
	u := base.JoinPath("api/v1/query_range")
	second := func(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }
	u.RawQuery = url.Values{"query": {r.Query}, "start": {second(r.From)}, "end": {second(r.To)},
		"step": {strconv.FormatFloat(r.Step.Seconds(), 'f', -1, 64)}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errors.New("prometheus: the URL is not one of http or https")
	}
	answer, err := client.Do(req)
	if err != nil {
		var wrapped *url.Error // its text contains the whole URL
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("prometheus at %s: %w", base.Host, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("prometheus at %s: %w", base.Host, err)
	}
	if len(body) > mostAnswer {
		return nil, fmt.Errorf("prometheus at %s: its answer is larger than %d MB", base.Host, mostAnswer>>20)
	}
	points, err := matrix(body, answer.StatusCode)
	if err != nil {
		return nil, fmt.Errorf("prometheus at %s: %w", base.Host, err)
	}
	return points, nil
}

// matrix reads a reply with one series of values.
func matrix(body []byte, status int) ([]Point, error) {
	var answer struct {
		Status string
		Error  string
		Data   struct {
			ResultType string
			Result     []struct {
				Metric map[string]string
				Values [][2]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("status %d without a reply of its API (hint: give the base URL of Prometheus)", status)
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("status %d: %.300s", status, redact.Text(answer.Error))
	}
	series := answer.Data.Result
	switch {
	case answer.Data.ResultType != "matrix" || len(series) == 0:
		return nil, errors.New("the query returns no series in that range")
	case len(series) > 1:
		return nil, fmt.Errorf("the query returns %d series; it must return one (hint: sum(...))", len(series))
	}
	points := make([]Point, 0, len(series[0].Values))
	for _, pair := range series[0].Values {
		at, err := strconv.ParseFloat(string(pair[0]), 64)
		if err != nil {
			return nil, fmt.Errorf("%.40q is not a time", pair[0])
		}
		value, err := strconv.ParseFloat(strings.Trim(string(pair[1]), `"`), 64)
		if err != nil {
			return nil, fmt.Errorf("%.40q is not a value", pair[1])
		}
		points = append(points, Point{time.UnixMilli(int64(at * 1000)).UTC(), value})
	}
	return points, nil
}
