package grpc

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// shop is a service of all four kinds of methods, and messages of all kinds of
// fields.
const shop = `
name: "shop.proto" package: "shop" syntax: "proto3"
dependency: "google/protobuf/timestamp.proto" dependency: "google/protobuf/empty.proto"
enum_type { name: "Size" value { name: "SIZE_NONE" number: 0 } value { name: "LARGE" number: 300 } }
message_type { name: "Item"
  field { name: "name" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "name" }
  field { name: "count" number: 2 type: TYPE_INT32 label: LABEL_OPTIONAL json_name: "count" }
  field { name: "parent" number: 3 type: TYPE_MESSAGE type_name: ".shop.Item" label: LABEL_OPTIONAL json_name: "parent" }
}
message_type { name: "Order"
  field { name: "user_name" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "userName" }
  field { name: "raw" number: 2 type: TYPE_BYTES label: LABEL_OPTIONAL json_name: "raw" }
  field { name: "paid" number: 3 type: TYPE_BOOL label: LABEL_OPTIONAL json_name: "paid" }
  field { name: "size" number: 4 type: TYPE_ENUM type_name: ".shop.Size" label: LABEL_OPTIONAL json_name: "size" }
  field { name: "i32" number: 5 type: TYPE_INT32 label: LABEL_OPTIONAL json_name: "i32" }
  field { name: "i64" number: 6 type: TYPE_INT64 label: LABEL_OPTIONAL json_name: "i64" }
  field { name: "u32" number: 7 type: TYPE_UINT32 label: LABEL_OPTIONAL json_name: "u32" }
  field { name: "u64" number: 8 type: TYPE_UINT64 label: LABEL_OPTIONAL json_name: "u64" }
  field { name: "s32" number: 9 type: TYPE_SINT32 label: LABEL_OPTIONAL json_name: "s32" }
  field { name: "s64" number: 10 type: TYPE_SINT64 label: LABEL_OPTIONAL json_name: "s64" }
  field { name: "f32" number: 11 type: TYPE_FIXED32 label: LABEL_OPTIONAL json_name: "f32" }
  field { name: "f64" number: 12 type: TYPE_FIXED64 label: LABEL_OPTIONAL json_name: "f64" }
  field { name: "sf32" number: 13 type: TYPE_SFIXED32 label: LABEL_OPTIONAL json_name: "sf32" }
  field { name: "sf64" number: 14 type: TYPE_SFIXED64 label: LABEL_OPTIONAL json_name: "sf64" }
  field { name: "fl" number: 15 type: TYPE_FLOAT label: LABEL_OPTIONAL json_name: "fl" }
  field { name: "db" number: 16 type: TYPE_DOUBLE label: LABEL_OPTIONAL json_name: "db" }
  field { name: "item" number: 17 type: TYPE_MESSAGE type_name: ".shop.Item" label: LABEL_OPTIONAL json_name: "item" }
  field { name: "items" number: 18 type: TYPE_MESSAGE type_name: ".shop.Item" label: LABEL_REPEATED json_name: "items" }
  field { name: "numbers" number: 19 type: TYPE_INT64 label: LABEL_REPEATED json_name: "numbers" }
  field { name: "words" number: 20 type: TYPE_STRING label: LABEL_REPEATED json_name: "words" }
  field { name: "prices" number: 21 type: TYPE_MESSAGE type_name: ".shop.Order.PricesEntry" label: LABEL_REPEATED json_name: "prices" }
  field { name: "stock" number: 22 type: TYPE_MESSAGE type_name: ".shop.Order.StockEntry" label: LABEL_REPEATED json_name: "stock" }
  field { name: "at" number: 23 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" label: LABEL_OPTIONAL json_name: "at" }
  field { name: "card" number: 24 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 json_name: "card" }
  field { name: "cash" number: 25 type: TYPE_INT32 label: LABEL_OPTIONAL oneof_index: 0 json_name: "cash" }
  oneof_decl { name: "payment" }
  nested_type { name: "PricesEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL json_name: "key" }
    field { name: "value" number: 2 type: TYPE_DOUBLE label: LABEL_OPTIONAL json_name: "value" } }
  nested_type { name: "StockEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "key" }
    field { name: "value" number: 2 type: TYPE_MESSAGE type_name: ".shop.Item" label: LABEL_OPTIONAL json_name: "value" } }
}
service { name: "Shop"
  method { name: "Buy" input_type: ".shop.Order" output_type: ".shop.Order" }
  method { name: "Watch" input_type: ".shop.Order" output_type: ".shop.Item" server_streaming: true }
  method { name: "Fill" input_type: ".shop.Item" output_type: ".shop.Order" client_streaming: true }
  method { name: "Talk" input_type: ".shop.Item" output_type: ".shop.Item" client_streaming: true server_streaming: true }
}`

// shopFile is shop as a descriptor.
func shopFile(t testing.TB) *descriptorpb.FileDescriptorProto {
	t.Helper()
	f := &descriptorpb.FileDescriptorProto{}
	if err := prototext.Unmarshal([]byte(shop), f); err != nil {
		t.Fatal(err)
	}
	return f
}

// shopSet is a descriptor set with shop, whose imports come with protobuf.
func shopSet(t testing.TB) []byte {
	t.Helper()
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{shopFile(t)}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func shopSchema(t testing.TB) *schema {
	t.Helper()
	s, err := parseSet(shopSet(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shopMessage(t testing.TB, s *schema, name string) protoreflect.MessageDescriptor {
	t.Helper()
	d, err := s.files.FindDescriptorByName(protoreflect.FullName("shop." + name))
	if err != nil {
		t.Fatal(err)
	}
	return d.(protoreflect.MessageDescriptor)
}

func TestUnknownNamesComeWithNearOnes(t *testing.T) {
	s := shopSchema(t)
	for path, want := range map[string]string{
		"/shop.Shop/Buy":     "",
		"/shop.Shop/buy":     `no method "buy" (did you mean "Buy"?)`,
		"/shop.Shop/Nowhere": "known here: Buy, Fill, Talk, Watch",
		"/shop.Shopp/Buy":    `no service "shop.Shopp" (did you mean "shop.Shop"?)`,
		"/shop.Order/Buy":    `no service "shop.Order"`,
		"/shop.Shop":         "write it as /package.Service/Method",
		"/shop..Shop/Buy":    "write it as /package.Service/Method",
	} {
		m, err := s.method(path)
		if want == "" && (err != nil || m.Name() != "Buy") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestSetsThatAreNoUse(t *testing.T) {
	lacking := shopFile(t)
	lacking.Dependency = append(lacking.Dependency, "other.proto")
	broken := shopFile(t)
	broken.MessageType[0].Field[1].Number = proto.Int32(1)
	marshal := func(f *descriptorpb.FileDescriptorProto) []byte {
		b, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{f}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for want, set := range map[string][]byte{
		"imports other.proto, which is not in the schema (make it with protoc --include_imports": marshal(lacking),
		"the schema cannot be used": marshal(broken),
		"not a descriptor set":      []byte(`syntax = "proto3";`),
		"contains no file":          {},
		"bytes, at most 16777216":   make([]byte, maxSchema+1),
	} {
		if _, err := parseSet(set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// FuzzSchema reads arbitrary descriptor sets and compiles a call of each method in
// them.
func FuzzSchema(f *testing.F) {
	f.Add(shopSet(f))
	f.Fuzz(func(t *testing.T, set []byte) {
		s, err := parseSet(set)
		if err != nil {
			return
		}
		s.files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				methods := file.Services().Get(i).Methods()
				for j := range methods.Len() {
					if body, _, err := compileBody("{}", nil, methods.Get(j), s); err == nil && len(body) < prefix {
						t.Errorf("the body of %s is %x", methods.Get(j).FullName(), body)
					}
				}
			}
			return true
		})
	})
}

func shopMethod(t testing.TB, s *schema, name string) protoreflect.MethodDescriptor {
	t.Helper()
	m, err := s.method("/shop.Shop/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
