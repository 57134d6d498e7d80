package grpc

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	_ "google.golang.org/protobuf/types/known/emptypb" // of the imports of schemas, this and the next are not linked otherwise
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/redline-go/redline/scenario/mistake"
)

// Bounds of a schema, which comes from a server as often as from a file.
const (
	maxSchema = 16 << 20 // bytes of its files
	maxFiles  = 5000
	maxNested = 100 // messages within messages of a descriptor
)

// schema holds the known descriptors of a target's services.
type schema struct {
	files *protoregistry.Files
	types *dynamicpb.Types
}

const setHint = "make it with protoc --include_imports --descriptor_set_out=FILE"

// parseSet reads a FileDescriptorSet.
func parseSet(data []byte) (*schema, error) {
	if len(data) > maxSchema {
		return nil, fmt.Errorf("a descriptor set of %d bytes, at most %d are allowed", len(data), maxSchema)
	}
	set := &descriptorpb.FileDescriptorSet{}
	// Options of a file can nest messages as deeply as bytes allow, and decoding recurses.
	if err := (proto.UnmarshalOptions{RecursionLimit: maxNested}).Unmarshal(data, set); err != nil {
		return nil, fmt.Errorf("not a descriptor set (%s): %w", setHint, err)
	}
	if len(set.File) == 0 {
		return nil, fmt.Errorf("the descriptor set contains no file (%s)", setHint)
	}
	return newSchema(set.File)
}

// newSchema links files, to which it adds those of Google's own that are imported and
// missing. Any other import that is missing is an error.
func newSchema(files []*descriptorpb.FileDescriptorProto) (*schema, error) {
	if len(files) > maxFiles {
		return nil, fmt.Errorf("a schema of %d files, at most %d are allowed", len(files), maxFiles)
	}
	have := map[string]bool{}
	for _, f := range files {
		have[f.GetName()] = true
	}
	// The list grows while it is walked: files of Google's import each other.
	for i := 0; i < len(files); i++ {
		for _, path := range files[i].GetDependency() {
			if have[path] {
				continue
			}
			known := wellKnown(path)
			if known == nil {
				return nil, fmt.Errorf("%s imports %s, which is not in the schema (%s)", files[i].GetName(), path, setHint)
			}
			have[path] = true
			files = append(files, known)
		}
	}
	linked, err := protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: files})
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	return &schema{linked, dynamicpb.NewTypes(linked)}, nil
}

// wellKnown returns a file that comes with protobuf, nil for any other. Sets made
// without --include_imports lack these files, and some servers do not reflect them;
// they are linked into this binary anyway.
func wellKnown(path string) *descriptorpb.FileDescriptorProto {
	if !strings.HasPrefix(path, "google/protobuf/") {
		return nil
	}
	file, err := protoregistry.GlobalFiles.FindFileByPath(path)
	if err != nil {
		return nil
	}
	return protodesc.ToFileDescriptorProto(file)
}

// method finds a method by its path, /package.Service/Method.
func (s *schema) method(path string) (protoreflect.MethodDescriptor, error) {
	service, method, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	found, err := s.files.FindDescriptorByName(service)
	if err != nil && !errors.Is(err, protoregistry.NotFound) {
		return nil, err
	}
	// Messages and enums share the name space, so what is found need not be a service.
	in, ok := found.(protoreflect.ServiceDescriptor)
	if !ok {
		return nil, unknown("the schema has no service", string(service), s.services())
	}
	if m := in.Methods().ByName(method); m != nil {
		return m, nil
	}
	var names []string
	for i := range in.Methods().Len() {
		names = append(names, string(in.Methods().Get(i).Name()))
	}
	return nil, unknown("service "+string(service)+" has no method", string(method), names)
}

// splitPath splits a path that names a method.
func splitPath(path string) (service protoreflect.FullName, method protoreflect.Name, err error) {
	before, after, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	service, method = protoreflect.FullName(before), protoreflect.Name(after)
	if !ok || !service.IsValid() || !method.IsValid() {
		return "", "", fmt.Errorf("path %.100q does not name a method; write it as /package.Service/Method", path)
	}
	return service, method, nil
}

func (s *schema) services() (names []string) {
	s.files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			names = append(names, string(f.Services().Get(i).FullName()))
		}
		return true
	})
	return names
}

// unknown is an error for an unknown name, with the names near to it.
func unknown(what, name string, known []string) error {
	if hint := mistake.DidYouMean(name, known); hint != "" {
		return fmt.Errorf("%s %.100q (%s)", what, name, hint)
	}
	return fmt.Errorf("%s %.100q", what, name)
}
