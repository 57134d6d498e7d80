package grpc

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// everything resolves what shop's schema has, and what the test links.
type everything struct{ s *schema }

func (e everything) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if f, err := e.s.files.FindFileByPath(path); err == nil {
		return f, nil
	}
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

func (e everything) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if d, err := e.s.files.FindDescriptorByName(name); err == nil {
		return d, nil
	}
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}

// locked lets in those with a token.
func locked(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	md, _ := metadata.FromIncomingContext(s.Context())
	if len(md.Get("authorization")) == 0 {
		return status.Error(codes.Unauthenticated, "who are you")
	}
	return handler(srv, s)
}

func TestNoSchemaToBeHad(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	for name, test := range map[string]struct{ address, method, want string }{
		"no reflection":    {serve(t, silent), "shop.Shop/Buy", "the server has no reflection; give the schema as a descriptor set: protoc --include_imports"},
		"no such service":  {serve(t, v1), "shop.Shoop/Buy", `the server has no service "shop.Shoop" (did you mean "shop.Shop"?)`},
		"no such method":   {serve(t, v1), "shop.Shop/By", `no method "By" (did you mean "Buy"?)`},
		"refused":          {serve(t, v1, grpc.StreamInterceptor(locked)), "shop.Shop/Buy", "refuses reflection (who are you)"},
		"nobody listens":   {closed.Addr().String(), "shop.Shop/Buy", "is it up"},
		"no gRPC, but web": {strings.TrimPrefix(web.URL, "http://"), "shop.Shop/Buy", "does it speak gRPC?"},
	} {
		_, err := New(context.Background(), calls(test.address, scenario.Request{URL: feeder.Template(test.method)}))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
}

func TestReflectionIsGivenTheMetadata(t *testing.T) {
	p := calls(serve(t, v1, grpc.StreamInterceptor(locked)), scenario.Request{URL: "shop.Shop/Buy",
		Headers: map[string]scenario.Secret{"Authorization": "Bearer x"}})
	if x := converse(t, newProtocol(t, p)).call(0); x.Err != nil {
		t.Error(x.Err)
	}
}

// TestReflectionOfAServerThatHangsUp asks one that resets each connection,
// after any number of bytes of the question.
func TestReflectionOfAServerThatHangsUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.(*net.TCPConn).SetLinger(0)
			_, _ = io.ReadFull(c, make([]byte, 24))
			c.Close()
		}
	}()
	for range 50 {
		_, err = New(t.Context(), calls(l.Addr().String(), scenario.Request{URL: "shop.Shop/Buy"}))
		if err == nil || !strings.Contains(err.Error(), "does it speak gRPC?") {
			t.Fatalf("error %v", err)
		}
	}
}

// TestReflectionIsBounded asks a server that accepts connections and says nothing.
func TestReflectionIsBounded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = New(ctx, calls(l.Addr().String(), scenario.Request{URL: "shop.Shop/Buy"}))
	if !errors.Is(err, context.DeadlineExceeded) && (err == nil || !strings.Contains(err.Error(), "did not answer within")) {
		t.Errorf("error %v", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	if _, err = New(ctx, calls(l.Addr().String(), scenario.Request{URL: "shop.Shop/Buy"})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}
