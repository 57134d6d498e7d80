package netstat

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/record/series"
)

func TestParse(t *testing.T) {
	now := map[string]float64{
		series.NetActiveOpens: 201, series.NetPassiveOpens: 202, series.NetAttemptFails: 203, series.NetEstabResets: 204,
		series.NetEstablished: 205, series.NetInSegments: 206, series.NetOutSegments: 207, series.NetRetransmits: 208,
		series.NetInErrors: 209, series.NetOutResets: 210, series.NetDuplicates: 11,
		series.NetListenOverflows: 101, series.NetListenDrops: 102, series.NetRequestQueueFull: 7, series.NetTimeouts: 105,
		series.NetLostRetransmits: 106, series.NetSynRetransmits: 107, series.NetMemoryPressures: 108, series.NetPrunes: 109,
		series.NetBacklogDrops: 110, series.NetZeroWindows: 111, series.NetTimeWaits: 117, series.NetTimeWaitOverflows: 113,
	}
	old := maps.Clone(now)
	for _, since := range []string{series.NetRequestQueueFull, series.NetSynRetransmits, series.NetDuplicates, series.NetZeroWindows,
		series.NetTimeWaitOverflows} {
		delete(old, since)
	}
	for kernel, want := range map[string]map[string]float64{"linux-6.18": now, "linux-2.6.32": old} {
		got := map[string]float64{}
		for _, file := range []string{"snmp", "netstat"} {
			if err := Parse(bytes.NewReader(fixture(t, kernel, file)), got); err != nil {
				t.Errorf("%s: %v", kernel, err)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", kernel, got, want)
		}
	}
}

func TestTablesThatDoNotFit(t *testing.T) {
	for _, text := range []string{
		"Tcp: InSegs OutSegs\nTcp: 5\n", "Tcp: InSegs\nTcp: 5 6\n", "Tcp: InSegs\n", "Tcp: InSegs\nUdp: 5\n",
		"Tcp: InSegs\nTcp: five\n", "Tcp: InSegs\nTcp: 99999999999999999999999\n", "Tcp InSegs\nTcp 5\n",
		"Tcp: InSegs\nTcp: " + strings.Repeat("1", maxLine) + "\n",
	} {
		if err := Parse(strings.NewReader(text), map[string]float64{}); err == nil {
			t.Errorf("%.40q is taken", text)
		}
	}
}

func TestParseSockstat(t *testing.T) {
	got := map[string]float64{}
	for _, file := range []string{"sockstat", "sockstat6"} {
		if err := parseSockstat(bytes.NewReader(fixture(t, "linux-6.18", file)), 4096, got); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]float64{
		series.NetSockets: 301, series.NetTCPInUse: 309, series.NetTCPOrphans: 303, series.NetTCPTimeWait: 304,
		series.NetTCPAllocated: 305, series.NetTCPMemory: 306 * 4096,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, bad := range []string{"TCP inuse 5\n", "TCP: inuse many\n", "TCP: inuse\n"} {
		if err := parseSockstat(strings.NewReader(bad), 4096, map[string]float64{}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestParseSoftnet(t *testing.T) {
	want := []softnet{{0xfffffff0, 1, 2}, {32, 3, 4}}
	for _, kernel := range []string{"linux-6.18", "linux-2.6.32"} {
		got, err := parseSoftnet(bytes.NewReader(fixture(t, kernel, "softnet_stat")), nil)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", kernel, got, err)
		}
	}
	for _, bad := range []string{"", "1 2\n", "x 1 2\n", "100000000 1 2\n"} {
		if got, err := parseSoftnet(strings.NewReader(bad), nil); err == nil {
			t.Errorf("%q gives %v", bad, got)
		}
	}
}

// The words of softnet_stat wrap at 32 bits; CPUs may come and go.
func TestSoftnetTotal(t *testing.T) {
	var s softnetTotal
	s.add([]softnet{{0xfffffff0, 1, 2}, {32, 3, 4}})
	if !s.add([]softnet{{0x10, 2, 2}, {33, 3, 5}}) || s.total != [3]float64{33, 1, 1} {
		t.Errorf("over the wrap: %v", s.total)
	}
	if s.add([]softnet{{0x10, 2, 2}}) || s.total != [3]float64{33, 1, 1} {
		t.Errorf("without a CPU: %v", s.total)
	}
}

// FuzzParse feeds every parser: none may panic, and what they find must be a number
// in the text.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"snmp", "netstat", "sockstat", "softnet_stat"} {
		f.Add(fixture(f, "linux-2.6.32", file))
	}
	f.Add([]byte("Tcp: InSegs\nTcp: 5\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		values := map[string]float64{}
		_ = Parse(bytes.NewReader(text), values)
		_ = parseSockstat(bytes.NewReader(text), 4096, values)
		for name, value := range values {
			if value < 0 || !bytes.ContainsAny(text, "0123456789") {
				t.Errorf("%s = %v from %q", name, value, text)
			}
			if _, ok := series.Known(name); !ok {
				t.Errorf("series %s is not in the catalogue", name)
			}
		}
		cpus, err := parseSoftnet(bytes.NewReader(text), nil)
		if err == nil && len(cpus) > bytes.Count(text, []byte("\n"))+1 {
			t.Errorf("%d CPUs in %q", len(cpus), text)
		}
	})
}

func fixture(t testing.TB, kernel, file string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + kernel + "/proc/42/net/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
