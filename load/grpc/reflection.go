package grpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	// Both ask over net/http, which is linked anyway: 1.3 MB in the binary,
	// where google.golang.org/grpc takes 4.9 MB.
	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/redact"
)

// reflectionTimeout bounds all queries to one server.
const reflectionTimeout = 10 * time.Second

const givenHint = "give the schema as a descriptor set: protoc --include_imports --descriptor_set_out=FILE"

// askSchema asks a server for the schema of services, by version 1 of the
// reflection service or, where a server does not have that, v1alpha.
// https://github.com/grpc/grpc/blob/master/doc/server-reflection.md
func askSchema(ctx context.Context, at endpoint.Endpoint, services []protoreflect.FullName, metadata http.Header) (*schema, error) {
	ctx, cancel := context.WithTimeout(ctx, reflectionTimeout)
	defer cancel()
	transport, base := transportTo(at)
	defer transport.CloseIdleConnections()
	// A target does not choose whom redline asks, because the query carries the plan's
	// metadata, including credentials.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := grpcreflect.NewClient(&http.Client{Transport: transport, CheckRedirect: stay}, base,
		connect.WithGRPC(), connect.WithReadMaxBytes(maxSchema))
	stream := client.NewStream(ctx, grpcreflect.WithReflectionHost(at.Authority), grpcreflect.WithRequestHeaders(metadata))
	a := asker{stream: stream, have: map[string]bool{}}
	err := a.ask(services)
	cancel() // whatever the server still has to say
	_, _ = stream.Close()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at.Address, err)
	}
	schema, err := newSchema(a.files)
	if err != nil {
		return nil, fmt.Errorf("%s: its reflection gives an unusable schema; %s: %w", at.Address, givenHint, err)
	}
	return schema, nil
}

// transportTo connects as the load itself will.
func transportTo(at endpoint.Endpoint) (t *http.Transport, base string) {
	t = &http.Transport{Protocols: new(http.Protocols), MaxResponseHeaderBytes: 64 << 10}
	if at.TLS == nil {
		t.Protocols.SetUnencryptedHTTP2(true)
		return t, "http://" + at.Address
	}
	t.Protocols.SetHTTP2(true)
	t.TLSClientConfig = at.TLS.Clone()
	return t, "https://" + at.Address
}

// asker collects the files that describe services.
type asker struct {
	stream *grpcreflect.ClientStream
	files  []*descriptorpb.FileDescriptorProto
	have   map[string]bool
	size   int
}

func (a *asker) ask(services []protoreflect.FullName) error {
	for _, service := range services {
		files, err := a.stream.FileContainingSymbol(service)
		if connect.CodeOf(err) == connect.CodeNotFound && !grpcreflect.IsReflectionStreamBroken(err) {
			return a.missing(service)
		}
		if err == nil {
			err = a.add(files)
		}
		if err != nil {
			return explain(err)
		}
	}
	// Servers may answer with the file alone or with all that it imports. The list grows
	// while it is walked, so that imports of imports are requested too.
	for i := 0; i < len(a.files); i++ {
		for _, path := range a.files[i].GetDependency() {
			if a.have[path] {
				continue
			}
			files, err := a.stream.FileByFilename(path)
			// Some servers do not register the files of google/protobuf, which every client has.
			if known := wellKnown(path); err != nil && !grpcreflect.IsReflectionStreamBroken(err) && known != nil {
				files, err = []*descriptorpb.FileDescriptorProto{known}, nil
			}
			if err == nil {
				err = a.add(files)
			}
			if err != nil {
				return fmt.Errorf("file %.200q: %w", path, explain(err))
			}
			if !a.have[path] {
				return fmt.Errorf("its reflection answers with other files than %.200q; %s", path, givenHint)
			}
		}
	}
	return nil
}

func (a *asker) add(files []*descriptorpb.FileDescriptorProto) error {
	for _, f := range files {
		if a.have[f.GetName()] {
			continue
		}
		a.have[f.GetName()] = true
		a.files = append(a.files, f)
		if a.size += proto.Size(f); a.size > maxSchema || len(a.files) > maxFiles {
			return fmt.Errorf("its schema is larger than %d MiB or %d files", maxSchema>>20, maxFiles)
		}
	}
	return nil
}

// missing is the error for a service that the server does not have.
func (a *asker) missing(service protoreflect.FullName) error {
	listed, err := a.stream.ListServices()
	if err != nil {
		return explain(err)
	}
	var names []string
	for _, name := range listed {
		names = append(names, string(name))
	}
	return unknown("the server has no service", string(service), names)
}

// explain gives the remedy for an error of the reflection service.
func explain(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("its reflection did not answer within %v; %s", reflectionTimeout, givenHint)
	}
	var refused *connect.Error
	if !errors.As(err, &refused) {
		return err
	}
	text := redact.Text(refused.Message())
	// The server's words are quoted in a message for a terminal, so they are cut.
	if len(text) > 200 {
		text = text[:200]
	}
	code := refused.Code()
	if broken := (*net.OpError)(nil); errors.As(err, &broken) {
		// A write that meets a closed connection counts as canceled there.
		code = connect.CodeUnavailable
	}
	switch code {
	case connect.CodeUnimplemented:
		return fmt.Errorf("the server has no reflection; %s", givenHint)
	case connect.CodeUnauthenticated, connect.CodePermissionDenied:
		return fmt.Errorf("the server refuses reflection (%s); give metadata that it takes under headers, or %s", text, givenHint)
	case connect.CodeUnavailable:
		return fmt.Errorf("the server does not answer the request for its schema; is it up, and does it speak gRPC? %s", text)
	}
	return fmt.Errorf("its reflection fails with %s: %s; %s", code, text, givenHint)
}
