package instrument

// taskExtra marks a request in the execution trace as package request of the probe does. A test compares names and bound with it.
const taskExtra = `
// redlineTask begins the task of a request; id is "" for one that redline did not sample.
func redlineTask(id string) *trace.Task {
	if len(id) > 64 {
		id = id[:64]
	}
	clean := []byte(id)
	for i, c := range clean {
		if c <= ' ' || c >= 0x7f {
			clean[i] = '_'
		}
	}
	ctx, task := trace.NewTask(context.Background(), "redline.request")
	if id != "" {
		trace.Log(ctx, "id", string(clean))
	}
	return task
}
`

// hertzRule is Hertz's router, which every request passes, whatever reads it from its connection: netpoll hands each to a goroutine
// of a pool, and net/http is not involved. No stack shows where such a request begins and ends, so all of them are marked, sampled
// or not, while a trace is taken.
var hertzRule = rule{
	name: "route", imports: []string{"context", "runtime/trace"}, extra: taskExtra + `
func redlineTracing() bool { return trace.IsEnabled() }
`,
	edits: []edit{
		{receiver: "*Engine", function: "ServeHTTP", types: map[string]string{"$2": "*app.RequestContext"}, body: `
			if redlineTracing() {
				task := redlineTask(string($2.Request.Header.Peek("X-Redline-Request")))
				defer task.End() // also when the handler panics
			}
			$call`},
	},
}
