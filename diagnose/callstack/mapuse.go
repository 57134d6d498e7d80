package callstack

import (
	"strings"

	"github.com/redline-go/redline/record/code"
)

// MapUse is what a function does with a map. It decides the remedy: a size hint helps only
// filling, an index only scans.
type MapUse int

// Uses of maps. A delete counts as an assignment.
const (
	MapUnknown MapUse = iota
	MapFill
	MapSearch
	MapScan
	MapShared // a sync.Map that is stored into: it has no size to set
)

// mapUses are parts of the names of sync's and the runtime's functions, including those before
// Go 1.24 replaced the maps by Swiss tables (internal/runtime/maps).
var mapUses = []struct {
	part string
	use  MapUse
}{
	{"sync.(*Map).LoadOr", MapShared}, {"sync.(*Map).LoadAnd", MapShared}, {"sync.(*Map).Load", MapSearch},
	{"sync.(*Map).Range", MapScan}, {"sync.(*Map).", MapShared},
	{"mapassign", MapFill}, {"mapdelete", MapFill}, {"mapclear", MapFill}, {"mapclone", MapFill},
	{"PutSlot", MapFill}, {"makemap", MapFill},
	{"hashGrow", MapFill}, {"growWork", MapFill}, {"evacuate", MapFill},
	{".mapiter", MapScan}, {".mapIter", MapScan}, {"maps.(*Iter)", MapScan},
	{"mapaccess", MapSearch}, {"maps.(*Map).get", MapSearch},
}

// MapUseOf returns what the frames below a user's function do with a map, as the outermost
// conclusive frame shows.
func MapUseOf(below []code.Frame) MapUse {
	for i := len(below) - 1; i >= 0; i-- {
		for _, u := range mapUses {
			if strings.Contains(below[i].Function, u.part) {
				return u.use
			}
		}
	}
	return MapUnknown
}
