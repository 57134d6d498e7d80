package scenario

import (
	"encoding/json"
	"testing"
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
	if p.Protocol != RPC || p.GRPC.DescriptorFile != "schema.pb" || len(p.GRPC.Descriptor) == 0 {
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
	if r := p.Requests[0]; p.Protocol != WebSocket || r.Method != "GET" || r.Name != "WS /feed" || r.Body != "hello {{n}}" || !r.NoReply {
		t.Errorf("%+v", p)
	}
	p = mustPlan(t, "requests: [{tcp: 'tcp://127.0.0.1:7000', message: \"ping\\n\"}]")
	if r := p.Requests[0]; p.Protocol != TCP || r.Method != "" || r.Name != "TCP 127.0.0.1:7000" || r.Body != "ping\n" || r.NoReply {
		t.Errorf("%+v", p)
	}
	p = mustPlan(t, "protocol: h2\nrequests: [{get: 'http://h/', follow: true}]")
	if p.Protocol != HTTP2 || !p.Requests[0].Follow {
		t.Errorf("%+v", p)
	}
}

func TestFromURLSchemes(t *testing.T) {
	for target, c := range map[string]struct {
		flags    Flags
		protocol Protocol
		name     string
		body     Template
	}{
		"https://h/x":         {Flags{Follow: true}, HTTP1, "GET /x", ""},
		"http://h/x":          {Flags{HTTP2: true, Body: "b"}, HTTP2, "POST /x", "b"},
		"grpc://h:1/a.B/C":    {Flags{Body: `{"n": 1}`}, RPC, "a.B/C", `{"n": 1}`},
		"grpcs://h:1/a.B/C":   {Flags{Insecure: true}, RPC, "a.B/C", "{}"},
		"ws://h/feed":         {Flags{Body: "hi"}, WebSocket, "WS /feed", "hi"},
		"tcp://127.0.0.1:700": {Flags{Body: "hi\n"}, TCP, "TCP 127.0.0.1:700", "hi\n"},
	} {
		p, err := FromURL(target, c.flags)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		r := p.Requests[0]
		if p.Protocol != c.protocol || r.Name != c.name || r.Body != c.body || r.Follow != c.flags.Follow {
			t.Errorf("%s: %s %+v", target, p.Protocol, r)
		}
	}
	for target, flags := range map[string]Flags{
		"grpc://h:1/a.B/D": {Method: "PUT"}, "grpc://h:1/a.B/E": {HTTP2: true}, "grpc://h:1/a.B/F": {Follow: true}, "ws://h/feed": {},
		"tcp://h": {Body: "x"}, "tcp://h:1/x": {Body: "x"}, "http://h": {Speed: 2}, "grpc://h:1/a.B/C": {Body: "x"},
	} {
		if p, err := FromURL(target, flags); err == nil {
			t.Errorf("%s: %+v", target, p)
		}
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
