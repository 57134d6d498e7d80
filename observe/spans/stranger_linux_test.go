package spans

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/redline-go/redline/access/accesstest"
	"github.com/redline-go/redline/observe"
)

// postAs exports over HTTP as another user.
func postAs(t *testing.T, uid int, url string, body []byte, token string) (int, string) {
	t.Helper()
	conn := accesstest.Dial(t, uid, "tcp", strings.TrimPrefix(url, "http://"))
	_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
	q, err := http.NewRequest("POST", url+"/v1/traces", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", protobuf)
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	if err := q.Write(conn); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(conn), q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(text)
}

// callAs exports over gRPC as another user.
func callAs(t *testing.T, uid int, url string, e any) error {
	t.Helper()
	address := strings.TrimPrefix(url, "http://")
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return accesstest.Dial(t, uid, "tcp", address), nil }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	return conn.Invoke(ctx, procedure, e, new(collector.ExportTraceServiceResponse))
}

// TestOtherUsersSendNoSpans has another user of the host export over HTTP and gRPC
// without permission, and this user do the same.
func TestOtherUsersSendNoSpans(t *testing.T) {
	r := start(t)
	of := func(name string, n uint64) *collector.ExportTraceServiceRequest {
		return export("shop", entry(name, true, n, time.Millisecond, time.Now()))
	}
	if status, text := postAs(t, accesstest.Nobody, r.url, wire(t, of("planted", 1)),
		""); status != http.StatusForbidden || !strings.Contains(text, "REDLINE_OTLP_TOKEN") {
		t.Errorf("another user's export over HTTP: status %d: %s", status, text)
	}
	if err := callAs(t, accesstest.Nobody, r.url, of("planted too", 2)); grpcstatus.Code(err) != codes.PermissionDenied {
		t.Errorf("another user's export over gRPC: %v", err)
	}
	if status, text := postAs(t, os.Geteuid(), r.url, wire(t, of("own", 3)), ""); status != http.StatusOK {
		t.Errorf("this user's export: status %d: %s", status, text)
	}
	h := r.stop()
	if n := len(r.sink.named("planted")) + len(r.sink.named("planted too")); n != 0 || len(r.sink.named("own")) != 1 {
		t.Errorf("%d spans of another user and %d of this one were kept", n, len(r.sink.named("own")))
	}
	if !strings.Contains(h.Why, "refused 2 exports") || !strings.Contains(h.Why, "another user") {
		t.Errorf("health: %s", h.Why)
	}
}

// TestOtherUsersShowTheToken: another user who has the token may export.
func TestOtherUsersShowTheToken(t *testing.T) {
	r := start(t, func(s *observe.Subject) { s.OTLPToken = "s3cret" })
	body := wire(t, export("shop", entry("shown", true, 1, time.Millisecond, time.Now())))
	for token, want := range map[string]int{"": 401, "s3cre": 401, "s3cret": 200} {
		if status, text := postAs(t, accesstest.Nobody, r.url, body, token); status != want {
			t.Errorf("token %q: status %d: %s", token, status, text)
		}
	}
}

// TestTheTargetsUserSendsSpans has a target that runs as another user.
func TestTheTargetsUserSendsSpans(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("another user cannot be played: this test runs as root alone")
	}
	target := exec.Command("sleep", "600")
	target.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: accesstest.Nobody,
		Gid: accesstest.Nobody}, Pdeathsig: syscall.SIGKILL}
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Process.Kill(); _ = target.Wait() })
	r := start(t, func(s *observe.Subject) { s.PID = target.Process.Pid })
	body := wire(t, export("shop", entry("target's", true, 1, time.Millisecond, time.Now())))
	if status, text := postAs(t, accesstest.Nobody, r.url, body, ""); status != http.StatusOK {
		t.Errorf("the target's user: status %d: %s", status, text)
	}
	if status, _ := postAs(t, accesstest.Nobody-1, r.url, body, ""); status != http.StatusForbidden {
		t.Errorf("a third user: status %d", status)
	}
}

// TestWhoLeavesIsNobody has another user send a whole export and be gone before its user
// is checked: the kernel then shows its end as root's.
func TestWhoLeavesIsNobody(t *testing.T) {
	r := opened(t, 0)
	body := wire(t, export("shop", entry("left", true, 1, time.Millisecond, time.Now())))
	accesstest.Leave(t, accesstest.Nobody, "tcp", strings.TrimPrefix(r.url, "http://"),
		fmt.Sprintf("POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", protobuf, len(body), body))
	begin(t, r)
	if status := post(t, r.url, protobuf, wire(t, export("shop", entry("after", true, 2, time.Millisecond,
		time.Now())))); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	r.stop()
	if len(r.sink.named("left")) != 0 || len(r.sink.named("after")) != 1 {
		t.Errorf("%d spans of who left, %d of this user", len(r.sink.named("left")), len(r.sink.named("after")))
	}
}

// TestOtherUsersKeepNoneOut uses up the connections that another user may have.
func TestOtherUsersKeepNoneOut(t *testing.T) {
	r := start(t)
	accesstest.Crowd(t, accesstest.Nobody, "tcp", strings.TrimPrefix(r.url, "http://"), maxConnections+10)
	client := &http.Client{Timeout: 10 * time.Second} // less than the time for which a silent connection is kept
	defer client.CloseIdleConnections()
	answer, err := client.Post(r.url+"/v1/traces", protobuf,
		bytes.NewReader(wire(t, export("shop", entry("own", true, 1, time.Millisecond, time.Now())))))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("status %d", answer.StatusCode)
	}
}

// TestExportsAreBoundInRate sends more exports than are accepted per second.
func TestExportsAreBoundInRate(t *testing.T) {
	r := begin(t, opened(t, 1))
	body := wire(t, export("shop", entry("often", true, 1, time.Millisecond, time.Now())))
	refused := 0
	for range 20 {
		switch status := post(t, r.url, protobuf, body); status {
		case http.StatusTooManyRequests:
			refused++
		case http.StatusOK:
		default:
			t.Fatalf("status %d", status)
		}
	}
	if refused == 0 {
		t.Error("20 exports at once were all taken")
	}
	var last error
	for range 20 {
		if last = call(t, r.url, export("shop", entry("often", true, 1, time.Millisecond, time.Now())), nil); last != nil {
			break
		}
	}
	if grpcstatus.Code(last) != codes.ResourceExhausted {
		t.Errorf("gRPC: %v", last)
	}
	if h := r.stop(); !strings.Contains(h.Why, "exports: rate above") {
		t.Errorf("health: %s", h.Why)
	}
}
