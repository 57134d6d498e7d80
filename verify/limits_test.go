package verify

import (
	"cmp"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestLimits: a machine that is throttled halfway and a side that leaks are named; the usual noise,
// a difference between the sides and a warm-up that both have are not.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		serves, takes func(pair, turn, side int) float64
		want          []string
		pairs         int // 40
	}{
		"usual":    {},
		"b slower": {takes: func(_, _, side int) float64 { return 1 + 0.3*float64(side) }},
		"warms up": {takes: func(_, turn, _ int) float64 { return 1 + 0.5/float64(1+turn) }},
		"throttled": {serves: func(pair, _, _ int) float64 {
			if pair >= 20 {
				return 0.5
			}
			return 1
		}, want: []string{"from pair 21 of 40 on both sides served"}},
		"b leaks": {takes: func(_, turn, side int) float64 { return 1 + 0.05*float64(turn*side) },
			want: []string{"side b took"}},
		"b leaks, decided at once": {takes: func(_, turn, side int) float64 { return 1 + 0.08*float64(turn*side) },
			want: []string{"side b took"}, pairs: 4},
		"a database fills up": {serves: func(pair, _, _ int) float64 { return 1 / (1 + 0.05*float64(pair)) },
			want: []string{"both sides served 49 % fewer"}},
		"a database is vacuumed": {serves: func(pair, _, _ int) float64 { return 1 + 0.04*float64(pair) },
			want: []string{"more requests in the last third of the session than in the first, bit by bit"}},
		"both grow": {takes: func(_, turn, _ int) float64 { return 1 + 0.05*float64(turn) }},
	} {
		one := func(int, int, int) float64 { return 1 }
		if c.serves == nil {
			c.serves = one
		}
		if c.takes == nil {
			c.takes = one
		}
		rng := rand.New(rand.NewPCG(4, 4))
		pairs := make([]Pair, cmp.Or(c.pairs, 40))
		for i := range pairs {
			for side, b := range []*Block{&pairs[i].A, &pairs[i].B} {
				b.Values = map[string]float64{"throughput": 4000 * c.serves(i, 0, side) * math.Exp(0.1*rng.NormFloat64())}
				for turn := range 10 {
					b.Turns = append(b.Turns, 250e3*c.takes(i, turn, side)*math.Exp(0.15*rng.NormFloat64()))
				}
			}
		}
		got := Limits(pairs)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q, want %q", name, got[i], want)
			}
		}
	}
	// A session of 100 s beside a quota of 0.6 CPUs from its middle on, as measured.
	short := make([]Pair, 0, 16)
	for _, served := range [][2]float64{{19010, 18954}, {20129, 18404}, {19556, 19289}, {19165, 19633}, {19502, 21812}, {21121, 19274},
		{18379, 19849}, {15381, 17584}, {13333, 14252}, {15416, 14720}, {13827, 14476}, {13208, 14386}, {13858, 13033}, {14354, 14890},
		{13833, 13790}, {13311, 13857}} {
		short = append(short, Pair{A: Block{Values: map[string]float64{"throughput": served[0]}},
			B: Block{Values: map[string]float64{"throughput": served[1]}}})
	}
	if got := Limits(short); len(got) != 1 || !strings.Contains(got[0], "from pair 9 of 16 on both sides served 29 % fewer") {
		t.Errorf("sixteen pairs: %q", got)
	}
	// A session of 90 s whose sides fill one table, as measured.
	var filling []Pair
	for _, served := range [][2]float64{{1985, 1872}, {1404, 1496}, {1154, 1097}, {1017, 994}, {824, 789}, {844, 824}, {801, 806},
		{845, 848}, {809, 858}, {870, 930}, {896, 894}, {787, 807}, {757, 718}, {736, 736}, {727, 741}, {747, 742}, {690, 693}} {
		filling = append(filling, Pair{A: Block{Values: map[string]float64{"throughput": served[0]}},
			B: Block{Values: map[string]float64{"throughput": served[1]}}})
	}
	if got := Limits(filling); len(got) != 1 || !strings.Contains(got[0], "served 35 % fewer requests in the last third") {
		t.Errorf("a table that fills: %q", got)
	}
	if !strings.Contains(Limits(filling)[0], "each was measured first as often as the other") {
		t.Errorf("one side at a time: %q", Limits(filling))
	}
	for i := range filling {
		filling[i].Turn = 150 * time.Millisecond
	}
	if !strings.Contains(Limits(filling)[0], "they took turns") {
		t.Errorf("by turns: %q", Limits(filling))
	}
	if got := Limits(nil); got != nil {
		t.Errorf("no pairs: %q", got)
	}
}
