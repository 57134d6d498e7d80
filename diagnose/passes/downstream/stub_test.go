package downstream_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/record/breakdown"
)

// TestCallsThroughStubs: a stub that protoc generates only passes the call on, so calls are its callers'.
func TestCallsThroughStubs(t *testing.T) {
	call := func(b *Builder, method string, caller string) *Builder {
		stub := fmt.Sprintf("shop/pb.(*vaultClient).%s@vault_grpc.pb.go:40", method)
		const invoke = "google.golang.org/grpc.(*ClientConn).Invoke"
		return b.Wait(breakdown.StateSelect, 12*ms, 1, "runtime.selectgo",
			"google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader", invoke, stub, caller).
			Wait(breakdown.StateSelect, 3*ms, 1, "runtime.selectgo",
				"google.golang.org/grpc/internal/transport.(*recvBufferReader).readClient", invoke, stub, caller)
	}
	const find, list = "shop/gateway.forward@gateway.go:30", "shop/gateway.forward@gateway.go:31"
	found := Expect(t, downstream.Slow, call(idle(), "Find", find), "downstream-slow at gateway.go:30")
	if len(found) == 1 && !strings.Contains(fmt.Sprint(found[0].Evidence), "a call per request, 15.0 ms each") {
		t.Errorf("%+v", found[0].Evidence)
	}
	ExpectAll(t, Alone(downstream.Serial, downstream.Slow), call(call(idle(), "Find", find), "List", list),
		"downstream-serial at gateway.go:30")
	stands := New(64, 3*ms).Rate(500).Standing(2, 40, "runtime.selectgo", "google.golang.org/grpc.(*ClientConn).Invoke",
		"shop/pb.(*vaultClient).Find@vault_grpc.pb.go:40", find)
	Expect(t, downstream.Timeout, stands, "missing-timeout at gateway.go:30")
}
