package code

// File names the bundle's file of the compiler's remarks at hot lines.
const File = "compiler.json"

// Compiler is compiler.json: the lines of the service's own code that cost most,
// with the Go compiler's remarks on them, and which of its lines call others in a
// loop. It is written for targets that redline built itself.
type Compiler struct {
	GoVersion string    `json:"go_version"` // of the compiler that was asked
	Lines     []HotLine `json:"lines"`      // costliest first
	// Loops are the lines of the service's own code that lead to a call of a database or another
	// service, or to what takes CPU, and lie in a loop of their function.
	Loops []Frame `json:"loops,omitempty"`
	// Relays are the lines of the service's own code that only pass on a statement that their function
	// was given: as its text, as the function that sends it, or as a value of any type for an object
	// mapper. Who called that function asks for the statement.
	Relays []Frame `json:"relays,omitempty"`
	// Generated are the lines that lead to such a call and lie in a file that a program wrote.
	Generated []Frame `json:"generated,omitempty"`
	// Searches are the lines of the service's own code that take CPU and that, by their source, look at the elements of a
	// collection one after another for one that is wanted, and Filters for all that are.
	Searches []Frame `json:"searches,omitempty"`
	Filters  []Frame `json:"filters,omitempty"`
	// Logged are the lines of the service's own code that take CPU and that, by their source, compute what a logger is given. Go
	// computes it also where the logger's level drops the record.
	Logged []Frame `json:"logged,omitempty"`
	// Collector are the lines of the service's own code that set the garbage collector's percentage (debug.SetGCPercent).
	Collector []Frame `json:"collector,omitempty"`
}

// Empty reports whether nothing is said of any line.
func (c Compiler) Empty() bool {
	return len(c.Lines)+len(c.Loops)+len(c.Relays)+len(c.Generated)+len(c.Searches)+len(c.Filters)+len(c.Logged)+len(c.Collector) == 0
}

// HotLine is a line of the service's own code and its measured cost.
type HotLine struct {
	Frame
	// CPU is the share of the service's CPU spent at the line and in the code that it
	// calls outside the service's own code; Self is its own share. 0 to 1.
	CPU  float64 `json:"cpu"`
	Self float64 `json:"self"`
	// Bytes and Objects are the line's shares of all allocation, 0 to 1.
	Bytes   float64 `json:"bytes"`
	Objects float64 `json:"objects"`
	// Remarks are the compiler's remarks on the line, in its order.
	Remarks []Remark `json:"remarks,omitempty"`
}

// Cost is the larger of the line's shares of CPU and of allocated bytes.
func (h HotLine) Cost() float64 { return max(h.CPU, h.Bytes) }

// RemarkKind is the subject of a compiler's remark.
type RemarkKind string

// Kinds of remark.
const (
	Escapes     RemarkKind = "escape" // a value is allocated on the heap
	NotInlined  RemarkKind = "inline" // the function is not inlined into its callers
	BoundsCheck RemarkKind = "bounds" // an index or slice is checked at run time
)

// Remark is one of the compiler's remarks on a line.
type Remark struct {
	Kind RemarkKind `json:"kind"`
	Text string     `json:"text"` // "b escapes to heap"
	// Flow is how an escaping value reaches the heap, step by step:
	// "return &b at store.go:47". Empty for other kinds.
	Flow []string `json:"flow,omitempty"`
}
