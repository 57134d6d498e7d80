package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario"
)

func TestBeside(t *testing.T) {
	at := func(change func(*scenario.Plan)) *scenario.Plan {
		p := &scenario.Plan{Requests: []scenario.Request{{URL: "http://127.0.0.1:8080/a?x={{row.x}}"}}}
		change(p)
		return p
	}
	args := func(words ...string) func(*scenario.Plan) {
		return func(p *scenario.Plan) { p.Target.Args = words }
	}
	env := func(pairs ...string) func(*scenario.Plan) {
		return func(p *scenario.Plan) {
			p.Target.Env = map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				p.Target.Env[pairs[i]] = pairs[i+1]
			}
		}
	}
	reported := func(p *scenario.Plan) string {
		text := strings.Join(append(append([]string{}, p.Target.Exec...), p.Target.Args...), " ")
		for name, value := range p.Target.Env { // one at most
			text += name + "=" + value
		}
		return text
	}
	for want, change := range map[string]func(*scenario.Plan){
		"--addr 127.0.0.1:9":                args("--addr", "127.0.0.1:8080"),
		"-l :9":                             args("-l", ":8080"),
		"--listen=[::1]:9":                  args("--listen=[::1]:8080"),
		"--url http://0.0.0.0:9/x":          args("--url", "http://0.0.0.0:8080/x"),
		"localhost:9,127.0.0.1:9":           args("localhost:8080,127.0.0.1:8080"),
		"--port 9 --limit 8080":             args("--port", "8080", "--limit", "8080"),
		"--port=9 --limit=8080":             args("--port=8080", "--limit=8080"),
		"-p 9":                              args("-p", "8080"),
		"PORT=9":                            env("PORT", "8080"),
		"SVC_LISTEN=:9":                     env("SVC_LISTEN", ":8080"),
		"./8080 -l :9":                      func(p *scenario.Plan) { p.Target.Exec = []string{"./8080", "-l", ":8080"} },
		"sh -c PORT=1 ./svc -l :9":          func(p *scenario.Plan) { p.Target.Exec = []string{"sh", "-c", "PORT=1 ./svc -l :8080"} },
		"127.0.0.1:9 --of 10.0.0.1:8080":    args("127.0.0.1:8080", "--of", "10.0.0.1:8080"),
		"127.0.0.1:9 127.0.0.1:80801":       args("127.0.0.1:8080", "127.0.0.1:80801"),
		"127.0.0.1:9 18080 8080ms 8080.5":   args("127.0.0.1:8080", "18080", "8080ms", "8080.5"),
		"127.0.0.1:9 postgres://u@db:8080/": args("127.0.0.1:8080", "postgres://u@db:8080/"),
	} {
		plan := at(change)
		before := reported(plan)
		moved, err := concurrent(plan, "9")
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if got := reported(moved); got != want || reported(plan) != before {
			t.Errorf("%s became %s, want %s; the plan itself says %s now", before, got, want, reported(plan))
		}
		if got := moved.Requests[0].URL; got != "http://127.0.0.1:9/a?x={{row.x}}" || plan.Requests[0].URL == got {
			t.Errorf("%s: requests go to %s, and to %s", want, got, plan.Requests[0].URL)
		}
	}
	ready := at(args(":8080"))
	ready.Target.Ready = "http://localhost:8080/ready"
	if p, err := concurrent(ready, "9"); err != nil || p.Target.Ready != "http://localhost:9/ready" {
		t.Errorf("readiness at %s, %v", p.Target.Ready, err)
	}
	for want, plan := range map[string]*scenario.Plan{
		"name its port, 8080": at(args("--workers", "8080", "--db", "db:8080")),
		"names no port":       at(func(p *scenario.Plan) { p.Requests[0].URL = "http://localhost/" }),
		"several addresses": at(func(p *scenario.Plan) {
			p.Requests = append(p.Requests,
				scenario.Request{URL: "http://127.0.0.1:81/"})
		}),
		"already running":           at(func(p *scenario.Plan) { p.Target.PID = 1 }),
		"has a fixed rate":          at(func(p *scenario.Plan) { p.Load.Rate = 100 }),
		"may not sustain":           at(func(p *scenario.Plan) { p.Load.Replay = &scenario.Replay{} }),
		"neither the target's argu": at(func(p *scenario.Plan) { p.Target.Build = "./svc" }),
	} {
		if _, err := concurrent(plan, "9"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	port, err := freePort(at(args()))
	if err != nil || port == "8080" || fmt.Sprint(port) == "0" {
		t.Errorf("free port %q, %v", port, err)
	}
}
