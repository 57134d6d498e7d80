package breakdown

import "github.com/redline-go/redline/record/code"

// Path is the critical path of the requests in the execution traces: at each instant of a
// request the work that it depended on, its own or that of the goroutine at the end of
// the chain of waits, summed over requests into a tree.
type Path struct {
	// Requests is how many it sums up; Partial of them are cut by an edge of a trace and
	// count with their part within it.
	Requests int `json:"requests"`
	Partial  int `json:"partial,omitempty"`
	// NS is the mean request's duration.
	NS int64 `json:"ns"`
	// Nodes divide it, the longest first; they sum to NS.
	Nodes []PathNode `json:"nodes,omitempty"`
	// Why says why there is no tree; empty where there is one.
	Why string `json:"why,omitempty"`
}

// PathNode is some of the mean request's time, and below it the parts of that time.
type PathNode struct {
	Kind PathKind `json:"kind"`
	// State of a PathState; for a PathGoroutine or a PathRequest, the state of the wait.
	State State `json:"state,omitempty"`
	// Function, with its file and line if the traces have them, is for a PathWork the one
	// that runs, for a PathGoroutine the one in which it began, and for a PathRequest or a
	// PathState the target's own function that waits. "" if unknown.
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	// Own reports that Function is the target's own code.
	Own bool `json:"own,omitempty"`
	// Site is where a wait is, as in Part.Site: a PathState's own, and for a
	// PathGoroutine the one at which requests waited for it longest.
	Site  string  `json:"site,omitempty"`
	NS    int64   `json:"ns"`    // per request, with all below
	Share float64 `json:"share"` // of the request
	// Stack is that of a PathState's wait, innermost first, as in Part.
	Stack []code.Frame `json:"stack,omitempty"`
	// Nodes divide the time, the longest first. The rest of NS is the node's
	// own: a function's own code, a wait that was not followed further.
	Nodes []PathNode `json:"nodes,omitempty"`
}

// PathKind is the kind of a node of a Path.
type PathKind string

// Kinds of a Path's nodes.
const (
	PathState     PathKind = "state"     // a goroutine's time in one state, such as running or network
	PathWork      PathKind = "work"      // the part of running, or of assisting the collector, below one function
	PathGoroutine PathKind = "goroutine" // a wait for a goroutine; below it the activity of that one meanwhile
	PathRequest   PathKind = "request"   // a wait for a goroutine that serves another request, such as a lock's holder
	PathOther     PathKind = "other"     // parts too small to be listed
)

// Serial is the work of goroutines that requests wait for and that serve no request
// themselves: those that began in one function, such as a store's only loop or a pool's
// workers. By the utilisation law throughput is at most Goroutines * 1e9 / ServiceNS.
type Serial struct {
	Goroutine string `json:"goroutine"` // the function in which they began
	// Goroutines is how many of them requests waited for; 1 is a serial resource.
	Goroutines int `json:"goroutines"`
	// Requests is how many requests waited for them, including cut ones; WaitNS is how long each did.
	Requests int   `json:"requests"`
	WaitNS   int64 `json:"wait_ns"`
	// Utilization is the share of the time, 0 to 1, in which one of them worked (ran, or
	// was ready to run) or a request waited for it, on average over the goroutines. A
	// goroutine that requests wait for while it waits for a timer counts as busy too:
	// compare OnCPU.
	Utilization float64 `json:"utilization"`
	// OnCPU is the share of the time in which it ran, mark assists included, and Queued
	// the share in which it was ready and waited for a CPU.
	OnCPU  float64 `json:"on_cpu"`
	Queued float64 `json:"queued"`
	// Kernel is the share of the time in system calls. KernelAlone is what it would be if each
	// took as long as the quickest tenth of those from the same place: the difference is the
	// wait for a disk that others use, or for a CPU. 0 without system calls, and in bundles of
	// earlier versions.
	Kernel      float64 `json:"kernel,omitempty"`
	KernelAlone float64 `json:"kernel_alone,omitempty"`
	// ServiceNS is how long one of them is busy per request: utilisation over the
	// rate of requests.
	ServiceNS int64 `json:"service_ns"`
}

// Helper counts goroutines that a kind of request started.
type Helper struct {
	Entry string       `json:"entry"` // the function in which they began
	Start []code.Frame `json:"start"` // the stack of the go statement, innermost first
	Count int          `json:"count"`
}

// Woken counts how often goroutines that serve no request, and that began in one function, were woken.
type Woken struct {
	Entry string `json:"entry"` // the function in which they began
	Count int    `json:"count"` // wake-ups by other goroutines, timers and the network
	// Requests is how many of them follow from requests: by a request, by what it started, or by a goroutine that was woken so itself.
	Requests int `json:"requests"`
}
