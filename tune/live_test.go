package tune

import (
	"strings"
	"testing"
)

func TestLiveKnobs(t *testing.T) {
	for text, want := range map[string]struct{ method, name, read, words string }{
		"http:/admin/pool?size={}=2..64":                         {"PUT", "size", "/admin/pool", "PUT /admin/pool?size=9"},
		"http:POST /admin/pool?a=1&size={}&b=2=2..64":            {"POST", "size", "/admin/pool?a=1&b=2", "POST /admin/pool?a=1&size=9&b=2"},
		"http:PATCH http://127.0.0.1:81/pool {\"size\": {}}=1,2": {"PATCH", "size", "http://127.0.0.1:81/pool", "PATCH http://127.0.0.1:81/pool {\"size\": 9}"},
		"http:/gc/{}=50..400":                                    {"PUT", "", "/gc", "PUT /gc/9"},
		"http:POST /pool kind=db&size={}=2..64":                  {"POST", "size", "/pool", "POST /pool kind=db&size=9"},
		"http:/pool=2..64":                                       {method: "must occur exactly once"},
		"http:/pool?a={}&b={}=2..64":                             {method: "must occur exactly once"},
		"http:pool?a={}=2..64":                                   {method: "neither a path"},
		"http:http://u:p4ss@127.0.0.1/pool?a={}=2..64":           {method: "secret"},
		"http:/pool?api_token={}=a,b":                            {method: "secret"},
		"http:/pool?size={}=":                                    {method: "has no values"},
		"http:DELETE /pool?size={}=2..64":                        {method: "neither a path"},
	} {
		k, err := ParseKnob(text)
		switch {
		case want.read == "":
			if err == nil || !strings.Contains(err.Error(), want.method) || strings.Contains(err.Error(), "p4ss") {
				t.Errorf("%s: %v, want %q", text, err, want.method)
			}
		case err != nil:
			t.Errorf("%s: %v", text, err)
		case k.Kind != Live || k.Request.Method != want.method || k.Request.Name != want.name || k.Request.Read() != want.read ||
			k.Request.Words("9") != want.words:
			t.Errorf("%s: %+v, read at %s", text, *k.Request, k.Request.Read())
		}
	}
}

func TestLiveAnswers(t *testing.T) {
	r := Request{Name: "size"}
	for body, want := range map[string]string{
		"16\n": "16", `{"size": 16, "max": 99}`: "16", `{"pool": {"max": 99, "size": "16"}}`: "16", `16.5`: "16.5", "size=16 max=99": "16",
		"max: 99\nsize: 16\n": "16", "": "", "<html>16</html>": "", "the pool has 16": "", `{"max": 99}`: "", `{"size": {"of": 3}}`: "",
	} {
		if got, ok := r.Answer([]byte(body)); got != want || ok != (want != "") {
			t.Errorf("%q says %q, want %q", body, got, want)
		}
	}
	if !Alike("1GiB", "1024MiB") || !Alike("16", "16.0") || Alike("16", "17") || !Alike("fast", "fast") || Alike("fast", "slow") {
		t.Error("what one value is")
	}
}
