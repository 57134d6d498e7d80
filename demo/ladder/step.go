package ladder

// Names of the ladders.
const (
	Order = "order"
	Stack = "stack"
)

// Step is a change of the service.
type Step struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Remedies are the gateway's switches that it turns, by name.
	Remedies []string `json:"remedies"`
	// Finding is the cause that called for it in the run before; "" where none did.
	Finding string `json:"finding,omitempty"`
}

// CalledFor words which finding called for a step.
func (s Step) CalledFor() string {
	if s.Finding == "" {
		return "no finding calls for it"
	}
	return s.Finding
}
