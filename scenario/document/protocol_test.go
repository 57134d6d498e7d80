package document

import (
	"encoding/json"
	"testing"

	"github.com/redline-go/redline/scenario/protocol"
)

func TestRequestForms(t *testing.T) {
	p := mustPlan(t, `
requests:
  - {grpc: "grpc://127.0.0.1:50051/shop.v1.Orders/Get", message: {id: "{{user.id}}", limit: 0x10, deep: {on: true, tags: [a, null, 1.50]}}}
  - {name: list, grpc: "grpc://127.0.0.1:50051/shop.v1.Orders/Put", message: [{id: 1}, {id: 2}], expect: NOT_FOUND}
  - {name: text, grpc: "grpc://127.0.0.1:50051/shop.v1.Orders/Put", message: '{"id": {{user.id}}}'}
  - {name: none, grpc: "grpc://127.0.0.1:50051/shop.v1.Orders/Put"}
grpc: {descriptor_set: schema.pb}
data: {user: {file: users.csv}}
load: {streams: 4}
`)
	if p.Protocol != protocol.RPC || p.GRPC.DescriptorFile != "schema.pb" || len(p.GRPC.Descriptor) == 0 {
		t.Errorf("%+v", p)
	}
	want := []struct{ name, body string }{
		{"shop.v1.Orders/Get", `{"id":"{{user.id}}","limit":16,"deep":{"on":true,"tags":["a",null,1.50]}}`},
		{"list", `[{"id":1},{"id":2}]`}, {"text", `{"id": {{user.id}}}`}, {"none", `{}`},
	}
	for i, r := range p.Requests {
		if r.Name != want[i].name || string(r.Body) != want[i].body || r.Method != "POST" {
			t.Errorf("request %d: %+v", i, r)
		}
	}
	if p.Requests[1].Expect != 5 {
		t.Errorf("expect %d", p.Requests[1].Expect)
	}

	p = mustPlan(t, `
requests:
  - {websocket: "wss://127.0.0.1:8080/feed?x={{n}}", message: "hello {{n}}", reply: false, headers: {A: b}}
data: {n: [1, 2]}
tls: {insecure: true}
`)
	if r := p.Requests[0]; p.Protocol != protocol.WebSocket || r.Method != "GET" || r.Name != "WS /feed" ||
		r.Body != "hello {{n}}" || !r.NoReply {
		t.Errorf("%+v", p)
	}
	p = mustPlan(t, "requests: [{tcp: 'tcp://127.0.0.1:7000', message: \"ping\\n\"}]")
	if r := p.Requests[0]; p.Protocol != protocol.TCP || r.Method != "" || r.Name != "TCP 127.0.0.1:7000" ||
		r.Body != "ping\n" || r.NoReply {
		t.Errorf("%+v", p)
	}
	p = mustPlan(t, "protocol: h2\nrequests: [{get: 'http://h/', follow: true}]")
	if p.Protocol != protocol.HTTP2 || !p.Requests[0].Follow {
		t.Errorf("%+v", p)
	}
}

func TestMessageIsJSON(t *testing.T) {
	p := mustPlan(t, `
requests:
  - grpc: grpc://h:1/a.B/C
    message:
      "q\"uote": "a<b>\u0007"
      n: -1.5e3
      big: 18446744073709551615
      octal: 0o17
      s: |-
        a
        b
`)
	var got map[string]any
	if err := json.Unmarshal([]byte(p.Requests[0].Body), &got); err != nil {
		t.Fatalf("%v in %s", err, p.Requests[0].Body)
	}
	if got[`q"uote`] != "a<b>\a" || got["octal"] != 15.0 || got["n"] != -1500.0 || got["s"] != "a\nb" {
		t.Errorf("%v", got)
	}
}
