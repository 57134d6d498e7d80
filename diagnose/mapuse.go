package diagnose

import (
	"cmp"

	"github.com/redline-go/redline/diagnose/callstack"
)

// MapUse returns what a function of the user's has maps do for most of the CPU that
// it spends in them; callstack.MapUnknown where the profile does not say.
func (u *Use) MapUse(function string) callstack.MapUse {
	sums := map[callstack.MapUse]float64{}
	for _, s := range u.list {
		user := u.index.Innermost(s.Stack)
		if user < 0 || callstack.Enclosing(s.Stack[user].Function) != callstack.Enclosing(function) {
			continue
		}
		if u.index.Work(s.Stack[:user]) == callstack.Map {
			sums[callstack.MapUseOf(s.Stack[:user])] += float64(s.Value)
		}
	}
	delete(sums, callstack.MapUnknown)
	return heaviest(sums, cmp.Compare[callstack.MapUse])
}
