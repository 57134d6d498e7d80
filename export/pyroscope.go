package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
)

// pyroscope pushes each profile as it is stored, through POST /ingest with
// format=pprof and a multipart body
// (https://grafana.com/docs/pyroscope/latest/reference-server-api/). The
// profiles of redline are deltas already, so that there is no prev_profile.
type pyroscope struct {
	*pusher
	id    Identity
	clock timebase.Clock
	width time.Duration
}

const ingestPath = "/ingest"

func newPyroscope(p *pusher, clock timebase.Clock, width time.Duration) *pyroscope {
	if u, err := url.Parse(p.url); err == nil && !strings.HasSuffix(u.Path, ingestPath) {
		p.url = u.JoinPath(ingestPath).String()
	}
	p.what = "profiles"
	return &pyroscope{pusher: p, clock: clock, width: width}
}

func (p *pyroscope) begin(id Identity) {
	p.id = id
	go p.run()
}

// sampleType is Pyroscope's description of one kind of value of a profile.
type sampleType struct {
	Units       string `json:"units"`
	DisplayName string `json:"display-name"`
	Aggregation string `json:"aggregation,omitempty"`
	Sampled     bool   `json:"sampled,omitempty"`
}

// sampleTypes are the kinds that are shown of each profile. A delta of allocs
// has the columns of a heap profile too, and they mean nothing there. Contention
// needs names of its own: mutex and block profiles call theirs the same.
var sampleTypes = map[string]map[string]sampleType{
	"cpu": {
		"samples": {Units: "samples", DisplayName: "samples"},
		"cpu":     {Units: "nanoseconds", DisplayName: "cpu", Sampled: true},
	},
	"allocs": {
		"alloc_objects": {Units: "objects", DisplayName: "alloc_objects"},
		"alloc_space":   {Units: "bytes", DisplayName: "alloc_space"},
	},
	"heap": {
		"inuse_objects": {Units: "objects", DisplayName: "inuse_objects", Aggregation: "average"},
		"inuse_space":   {Units: "bytes", DisplayName: "inuse_space", Aggregation: "average"},
	},
	"mutex": {
		"contentions": {Units: "lock_samples", DisplayName: "mutex_count"},
		"delay":       {Units: "lock_nanoseconds", DisplayName: "mutex_duration"},
	},
	"block": {
		"contentions": {Units: "lock_samples", DisplayName: "block_count"},
		"delay":       {Units: "lock_nanoseconds", DisplayName: "block_duration"},
	},
	"goroutine":     {"goroutine": {Units: "goroutines", DisplayName: "goroutines", Aggregation: "average"}},
	"goroutineleak": {"goroutineleak": {Units: "goroutines", DisplayName: "leaked_goroutines", Aggregation: "average"}},
}

// profile queues one profile. It copies the data and does not block; what takes long, hiding
// secrets and writing the body, is left to the pusher's goroutine.
func (p *pyroscope) profile(in record.Profile, hide *redact.Redactor) {
	in.Data = slices.Clone(in.Data)
	p.push(request{url: p.url + "?" + p.query(in).Encode(), body: in.Data, values: 1, finish: func(r *request) (err error) {
		in.Data = hide.Profile(in.Data)
		r.body, r.contentType, err = form(in)
		return err
	}})
}

// form is the body: the profile and how to read it.
func form(in record.Profile) (body []byte, contentType string, err error) {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	file, err := w.CreateFormFile("profile", "profile.pprof")
	if err == nil {
		_, err = file.Write(in.Data)
	}
	if types := sampleTypes[in.Type]; types != nil && err == nil {
		if file, err = w.CreateFormFile("sample_type_config", "sample_type_config.json"); err == nil {
			err = json.NewEncoder(file).Encode(types)
		}
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), w.FormDataContentType(), err
}

// query names a profile. Its labels are those of the metrics, so that one
// leads to the other, and its windows, as in the names of the bundle's files.
func (p *pyroscope) query(in record.Profile) url.Values {
	from := p.clock.EpochWall.Add(in.Span.From)
	// A profile of state has no length; Pyroscope wants a time that passes.
	until := p.clock.EpochWall.Add(max(in.Span.To, in.Span.From+time.Second))
	windows := fmt.Sprintf("%d-%d", timebase.Window(in.Span.From, p.width), timebase.Window(max(in.Span.From, in.Span.To-1), p.width))
	name := fmt.Sprintf("%s{profile=%s,run=%s,scenario=%s,windows=%s}",
		ingestName(p.id.Service), ingestName(in.Type), ingestName(p.id.Run), ingestName(p.id.Scenario), windows)
	return url.Values{
		"name": {name}, "format": {"pprof"}, "spyName": {"gospy"},
		"from": {strconv.FormatInt(from.Unix(), 10)}, "until": {strconv.FormatInt(until.Unix(), 10)},
	}
}

// ingestName removes from a name the characters that would end it early in name{label=value}.
func ingestName(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:", r) {
			return r
		}
		return '_'
	}, text[:min(len(text), 128)])
	if text == "" {
		return "_"
	}
	return text
}
