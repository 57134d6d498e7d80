package serving_test

import (
	"slices"
	"testing"
	"time"

	"github.com/redline-go/redline/lab/micro"
)

// payment is what rules of risk look at.
type payment struct{ amount, country, device, hour int }

// rule says whether it denies a payment.
type rule struct {
	name   string
	denies func(payment) bool
	cost   time.Duration // as measured, smoothed
}

// rules are four cheap ones behind one that asks a slow service.
func rules(slow time.Duration) []*rule {
	return []*rule{
		{name: "graph", denies: func(p payment) bool {
			for begun := time.Now(); time.Since(begun) < slow; {
			}
			return p.device == 13 && p.hour == 4
		}},
		{name: "amount", denies: func(p payment) bool { return p.amount > 9_000 }},
		{name: "country", denies: func(p payment) bool { return p.country%5 == 0 }},
		{name: "night", denies: func(p payment) bool { return p.hour < 3 && p.amount > 5_000 }},
		{name: "device", denies: func(p payment) bool { return p.device%4 == 0 }},
	}
}

// engine denies what any rule denies.
type engine struct {
	rules    []*rule
	feedback bool
	decided  int
}

func (e *engine) denies(p payment) bool {
	e.decided++
	if e.feedback && e.decided%50 == 0 { // the cheap ones go first
		slices.SortStableFunc(e.rules, func(a, b *rule) int { return int(a.cost - b.cost) })
	}
	for _, r := range e.rules {
		begun := time.Now()
		denied := r.denies(p)
		r.cost += (time.Since(begun) - r.cost) / 8
		if denied {
			return true
		}
	}
	return false
}

func payments(n int) []payment {
	all := make([]payment, n)
	for i := range all {
		all[i] = payment{amount: i * 7919 % 10_000, country: i * 31 % 97, device: i * 17 % 41, hour: i % 24}
	}
	return all
}

// BenchmarkRuleFeedback decides on payments: with the slow rule where it stands, first, or
// with rules in the order of what they cost.
func BenchmarkRuleFeedback(b *testing.B) {
	e := &engine{rules: rules(20 * time.Microsecond), feedback: micro.Of(false, true)}
	all := payments(500)
	denied := 0
	for b.Loop() {
		denied = 0
		for _, p := range all {
			if e.denies(p) {
				denied++
			}
		}
	}
	if want := deniedBy(rules(0), all); denied != want {
		b.Fatalf("%d denied, want %d", denied, want)
	}
}

func deniedBy(list []*rule, all []payment) (n int) {
	for _, p := range all {
		if slices.ContainsFunc(list, func(r *rule) bool { return r.denies(p) }) {
			n++
		}
	}
	return n
}

// TestRuleFeedback: whatever their order, rules decide alike. The claim's weights do not:
// without the slow rule, payments pass that it alone denies.
func TestRuleFeedback(t *testing.T) {
	slow, fed := &engine{rules: rules(time.Microsecond)}, &engine{rules: rules(time.Microsecond), feedback: true}
	all := payments(2000)
	for _, p := range all {
		if a, b := slow.denies(p), fed.denies(p); a != b {
			t.Fatalf("%+v: %v and %v", p, a, b)
		}
	}
	if without := deniedBy(rules(0)[1:], all); without >= deniedBy(rules(0), all) {
		t.Error("no payment is denied by the slow rule alone: its weight could be nothing")
	}
}
