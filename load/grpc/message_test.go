package grpc

import (
	"encoding/binary"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// row is a plan with one row of data: columns a and b.
func row(a, b string) *scenario.Plan {
	return &scenario.Plan{Data: map[string]*feeder.Table{"d": {Columns: []string{"a", "b"}, Rows: [][]string{{a, b}}}}}
}

// TestDataGoesIntoMessages encodes a message with data, and compares it with
// what protobuf's own JSON makes of the text that already contains the data.
func TestDataGoesIntoMessages(t *testing.T) {
	s := shopSchema(t)
	order := shopMessage(t, s, "Order")
	long := strings.Repeat("long ", 100)
	for _, test := range []struct{ template, a, b, want string }{
		{`{"userName":"{{d.a}}"}`, `x"y\z`, "", `{"userName":"x\"y\\z"}`},
		{`{"user_name":"a {{d.a}} b {{d.b}} c"}`, "1", "2", `{"userName":"a 1 b 2 c"}`},
		{`{"userName":{{d.a}}}`, `"quoted"`, "", `{"userName":"quoted"}`},
		{`{"userName":"\"{{d.a}}\\"}`, `x`, "", `{"userName":"\"x\\"}`},
		{`{"raw":"{{d.a}}"}`, "aGk_-w", "", `{"raw":"aGk/+w=="}`},
		{`{"raw":"{{d.a}}"}`, "aGk=", "", `{"raw":"aGk="}`},
		{`{"raw":"{{d.a}}","i32":5}`, "aGVs\r\nbG9v", "", `{"raw":"aGVsbG9v","i32":5}`},
		{`{"raw":"{{d.a}}","i32":5}`, "aGVs\r\nbG8=\r\n", "", `{"raw":"aGVsbG8=","i32":5}`},
		{`{"paid":{{d.a}},"i32":{{d.b}}}`, "true", "-5", `{"paid":true,"i32":-5}`},
		{`{"paid":"{{d.a}}","i64":"{{d.b}}"}`, "true", "-9223372036854775808", `{"paid":true,"i64":"-9223372036854775808"}`},
		{`{"paid":"{{d.a}}","at":"{{d.b}}"}`, "true", "2026-01-02T03:04:05Z", `{"paid":true,"at":"2026-01-02T03:04:05Z"}`},
		{`{"size":"{{d.a}}"}`, "LARGE", "", `{"size":"LARGE"}`},
		{`{"size":"{{d.a}}"}`, "300", "", `{"size":300}`},
		{`{"u32":{{d.a}},"u64":{{d.b}}}`, "4294967295", "18446744073709551615", `{"u32":4294967295,"u64":"18446744073709551615"}`},
		{`{"s32":{{d.a}},"s64":{{d.b}}}`, "-7", "-8", `{"s32":-7,"s64":-8}`},
		{`{"f32":{{d.a}},"f64":{{d.b}}}`, "7", "8", `{"f32":7,"f64":8}`},
		{`{"sf32":{{d.a}},"sf64":{{d.b}}}`, "-7", "-8", `{"sf32":-7,"sf64":-8}`},
		{`{"fl":{{d.a}},"db":"{{d.b}}"}`, "1.5e3", "-Infinity", `{"fl":1500,"db":"-Infinity"}`},
		{`{"item":{"name":"{{d.a}}","count":3,"parent":{"name":"{{d.b}}"}},"i32":1}`, long, long,
			`{"item":{"name":"` + long + `","count":3,"parent":{"name":"` + long + `"}},"i32":1}`},
		{`{"items":[{"name":"x"},{"name":"{{d.a}}"},{}],"words":["{{d.a}}","w",""]}`, "y", "",
			`{"items":[{"name":"x"},{"name":"y"},{}],"words":["y","w",""]}`},
		{`{"numbers":[1,"2",{{d.a}},"{{d.b}}",0]}`, "3", "4", `{"numbers":[1,2,3,4,0]}`},
		{`{"prices":{"7":{{d.a}},"8":1.5},"stock":{"k":{"name":"{{d.b}}"},"l":{"count":2}}}`, "2.5", "n",
			`{"prices":{"7":2.5,"8":1.5},"stock":{"k":{"name":"n"},"l":{"count":2}}}`},
		{`{"at":"2026-01-02T03:04:05Z","userName":"{{d.a}}"}`, "u", "", `{"at":"2026-01-02T03:04:05Z","userName":"u"}`},
		{`{"userName":"{{d.b}}","at":"2026-01-0{{d.a}}T03:04:05Z"}`, "7", `"`, `{"at":"2026-01-07T03:04:05Z","userName":"\""}`},
		{`{"item":{{d.a}}}`, `{"name":"x"}`, "", `{"item":{"name":"x"}}`},
		{`{"card":"{{d.a}}"}`, "c", "", `{"card":"c"}`},
		{`{{d.a}}`, `{"i32":5}`, "", `{"i32":5}`},
		{"{\"userName\":\"\ue000{{d.a}}\\ue001\"}", "x", "", "{\"userName\":\"\ue000x\ue001\"}"},
		{`{"i32":0,"userName":"{{d.a}}","paid":false,"item":null}`, "", "", `{}`},
	} {
		p := row(test.a, test.b)
		m := shopMethod(t, s, "Buy")
		body, encode, err := compileBody(feeder.Template(test.template), p, m, s)
		if err != nil || body != nil {
			t.Errorf("%s: %v, %x", test.template, err, body)
			continue
		}
		// Twice, and after something else: what is there is left alone.
		e := &encoding{rows: p.NewCursor(1)}
		out, err := encode.encode([]byte("before"), e)
		if err == nil {
			out, err = encode.encode(out[len("before"):], e)
		}
		if err != nil {
			t.Errorf("%s: %v", test.template, err)
			continue
		}
		want := dynamicpb.NewMessage(order)
		if err := protojson.Unmarshal([]byte(test.want), want); err != nil {
			t.Fatal(err)
		}
		for len(out) > 0 {
			end := prefix + int(binary.BigEndian.Uint32(out[1:]))
			got := dynamicpb.NewMessage(order)
			if err := proto.Unmarshal(out[prefix:end], got); err != nil || out[0] != 0 || !proto.Equal(got, want) {
				t.Errorf("%s: %v (%v), want %v", test.template, got, err, want)
			}
			out = out[end:]
		}
	}
}

func TestBodiesWithoutData(t *testing.T) {
	s := shopSchema(t)
	for _, test := range []struct {
		method, body string
		want         string
	}{
		{"Buy", ``, "\x00\x00\x00\x00\x00"},
		{"Buy", `{"i32":1}`, "\x00\x00\x00\x00\x02\x28\x01"},
		{"Talk", `{"count":1}`, "\x00\x00\x00\x00\x02\x10\x01"},
		{"Talk", `[{"count":1},{},{"count":2}]`, "\x00\x00\x00\x00\x02\x10\x01" + "\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x02\x10\x02"},
		{"Fill", `[]`, ""},
	} {
		body, encode, err := compileBody(feeder.Template(test.body), row("", ""), shopMethod(t, s, test.method), s)
		if err != nil || encode != nil || string(body) != test.want {
			t.Errorf("%s %s: %q, %v (%v), want %q", test.method, test.body, body, encode, err, test.want)
		}
	}
}

func TestBodiesThatAreNone(t *testing.T) {
	s := shopSchema(t)
	for _, test := range []struct{ method, body, want string }{
		{"Buy", `{"usrName":"x"}`, `shop.Order has no field "usrName" (did you mean "user_name"?)`},
		{"Buy", `{"item":{"parent":{"nmae":1}}}`, `shop.Item has no field "nmae" (did you mean "name"?)`},
		{"Buy", `{"items":[{},{"nmae":"{{d.a}}"}]}`, `shop.Item has no field "nmae"`},
		{"Buy", `{"stock":{"k":{"nmae":1}}}`, `shop.Item has no field "nmae"`},
		{"Buy", `[{}]`, "takes one message"},
		{"Buy", `{"i32":"x"}`, "not a shop.Order"},
		{"Buy", `{"i32":1,"i32":2}`, "twice"},
		{"Buy", `{"card":"{{d.a}}","cash":1}`, "payment is given twice"},
		{"Buy", `{"i32":1,`, "not valid JSON"},
		{"Buy", `{} {}`, "more after its end"},
		{"Buy", `"x"`, "not a shop.Order"},
		{"Buy", `{"{{d.a}}":1}`, "cannot come from data"},
		{"Buy", `{"i32":{{d.z}}}`, `no column "z"`},
		{"Buy", `{"i32":{{d.a`, "no closing }}"},
		{"Buy", `{"i32":["{{d.a}}"]}`, "takes one value"},
		{"Buy", `{"prices":{"x":{{d.a}}}}`, "cannot be a key"},
		{"Talk", `[{"count":1},{"count":"x"}]`, "message 2:"},
		{"Buy", strings.Repeat(`{"item":`, 200), "within one another"},
	} {
		if _, _, err := compileBody(feeder.Template(test.body), row("1", "2"), shopMethod(t, s, test.method),
			s); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.body, err, test.want)
		}
	}
}

// TestRowsThatFitNot has data that its field cannot hold, which an error must
// not quote, because it may be a secret.
func TestRowsThatFitNot(t *testing.T) {
	s := shopSchema(t)
	for body, want := range map[string]string{
		`{"i32":"{{d.a}}"}`:      "field shop.Order.i32: the data is not a valid int32",
		`{"u32":{{d.a}}}`:        "field shop.Order.u32: the data is not a valid uint32",
		`{"size":"{{d.a}}"}`:     "the data is not a valid shop.Size",
		`{"db":"{{d.a}}"}`:       "the data is not a valid double",
		`{"fl":"0x{{d.b}}"}`:     "the data is not a valid float",
		`{"paid":"{{d.a}}"}`:     "the data is not a valid bool",
		`{"raw":"{{d.a}}"}`:      "the data is not a valid base64 value",
		`{"userName":"{{d.c}}"}`: "the data is not a valid UTF-8 string",
		`{"at":"{{d.a}}"}`:       "with the data of this row it is not a shop.Order",
		`{"item":{{d.a}}}`:       "with the data of this row it is not a shop.Order",
	} {
		p := row("s3cret!", "1p3")
		p.Data["d"].Columns = append(p.Data["d"].Columns, "c")
		p.Data["d"].Rows[0] = append(p.Data["d"].Rows[0], "s3cret\xff")
		_, encode, err := compileBody(feeder.Template(body), p, shopMethod(t, s, "Buy"), s)
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		_, err = encode.encode(nil, &encoding{rows: p.NewCursor(1)})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: error %v, want %q", body, err, want)
		}
	}
}
