package probe

import (
	"bytes"
	"fmt"
	"path"
	"slices"
)

// Bridge returns the file of package auto that connects the hooks in instrumented
// packages to package operations, for injection into the module with the given path.
// The packages in below also serve database/sql as drivers in this program: each of
// their calls is examined, and one that database/sql made is counted there alone. Those
// in pools show their connection pools, and those in identify report which calls are the same.
func Bridge(modulePath string, packages, below, pools, identify []string) (name string, content []byte) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "package auto\n\nimport (\n\t_ \"unsafe\" // for go:linkname\n\n\t%q\n\t%q\n)\n\nvar _ = slots.Show\n",
		modulePath+"/"+Dir+"/operations", modulePath+"/"+Dir+"/slots")
	var set bytes.Buffer
	for i, p := range packages {
		fmt.Fprintf(&b, `
//go:linkname begin%[1]d %[2]s.redlineBegin
var begin%[1]d func(kind uint32, name, more string) (op uint64, start int64)

//go:linkname end%[1]d %[2]s.redlineEnd
var end%[1]d func(op uint64, start, rows int64, flags uint32)
`, i, p)
		begin := "Begin"
		if slices.Contains(below, p) {
			begin = "BeginOuter"
		}
		if slices.Contains(pools, p) {
			fmt.Fprintf(&b, `
//go:linkname pool%[1]d %[2]s.redlinePool
var pool%[1]d func(name string, read func(*[7]float64)) (remove func())
`, i, p)
			fmt.Fprintf(&set, "\tpool%d = slots.Show\n", i)
		}
		if slices.Contains(identify, p) {
			fmt.Fprintf(&b, `
//go:linkname identify%[1]d %[2]s.redlineIdentify
var identify%[1]d func(op uint64, a, b, c string, values []interface{}) uint64
`, i, p)
			fmt.Fprintf(&set, "\tidentify%d = operations.Identify\n", i)
		}
		// The end first: a call may begin as soon as the other is set.
		fmt.Fprintf(&set, "\tend%d = operations.End\n\tbegin%d = operations.%s\n", i, i, begin)
	}
	fmt.Fprintf(&b, "\nvar _ = bridge(func() {\n%s})\n", set.Bytes())
	return path.Join(AutoDir, "zz_bridge.go"), b.Bytes()
}
