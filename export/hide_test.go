package export

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
)

// TestExportedLabelsHideSecrets: a value that the run has learnt to be secret leaves
// in no label, neither of a series nor of a request's histogram, and what differs in
// nothing but the secret is one line.
func TestExportedLabelsHideSecrets(t *testing.T) {
	const first, second = "hunter2-correct-horse", "hunter3-battery-staple"
	hide := redact.New()
	hide.Learn(first)
	hide.Learn(second)
	g := newGather(timebase.Clock{}, timebase.DefaultWindow, hide)
	for _, secret := range []string{first, second} {
		g.add([]series.Point{{Series: series.Series{Name: series.LoadRequests, Labels: series.Labels("step", "pay-"+
			secret), Unit: "1"}, Value: 1}})
		g.log("pay-"+secret, histogram.Latency, timebase.Span{To: timebase.DefaultWindow}, &histogram.Counts{})
	}
	var lines []string
	for _, w := range g.take(time.Hour) {
		for _, v := range w.values {
			for _, l := range v.labels {
				lines = append(lines, l.value)
				if strings.Contains(l.value, first) || strings.Contains(l.value, second) {
					t.Errorf("%s{%s=%q} leaves with the secret", v.metric, l.name, l.value)
				}
			}
			if v.metric == "redline_load_requests_total" && v.number != 2 {
				t.Errorf("%g requests in the one line that is left, want 2", v.number)
			}
		}
	}
	if len(lines) == 0 {
		t.Error("nothing was exported")
	}
}

// TestProfilesAreHiddenBehindTheCaller: a profile leaves without secrets, and whoever delivers
// it waits neither for that nor for its own buffer.
func TestProfilesAreHiddenBehindTheCaller(t *testing.T) {
	const secret = "hunter2-correct-horse"
	hide := redact.New()
	hide.Learn(secret)
	var b bytes.Buffer
	in := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}},
		Sample:     []*profile.Sample{{Value: []int64{1}, Label: map[string][]string{"user": {secret}, "route": {"GET /a"}}}},
	}
	if err := in.Write(&b); err != nil {
		t.Fatal(err)
	}
	r := newReceiver(t)
	p := newPyroscope(newPusher("Pyroscope", parsed(t, r.URL), ""), timebase.Clock{}, timebase.DefaultWindow)
	p.profile(record.Profile{Type: "cpu", Data: b.Bytes()}, hide)
	if len(p.queue) != 1 || !bytes.Equal(p.queue[0].body, b.Bytes()) {
		t.Error("the profile was worked on before it was queued")
	}
	clear(b.Bytes())
	p.begin(Identity{})
	if text := p.close(); text != "" || len(r.got) != 1 {
		t.Fatalf("%d requests, %q", len(r.got), text)
	}
	out, err := profile.ParseData(formParts(t, r.got[0], r.bodies[0])["profile"])
	if err != nil {
		t.Fatal(err)
	}
	if labels := out.Sample[0].Label; labels["user"][0] != redact.Mark || labels["route"][0] != "GET /a" {
		t.Errorf("labels %q", labels)
	}
}
