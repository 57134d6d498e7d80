package jsonreply_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"

	"github.com/redline-go/redline/kit/jsonreply"
)

func ExampleWrite() {
	handler := func(w http.ResponseWriter, r *http.Request) {
		price := 9.99
		if r.URL.Path == "/broken" {
			price = math.Inf(1) // JSON has no infinity
		}
		err := jsonreply.Write(w, http.StatusOK, map[string]any{"price": price})
		var encode *jsonreply.EncodeError
		if errors.As(err, &encode) { // nothing was written yet
			http.Error(w, `{"error":"internal"}`, http.StatusInternalServerError)
		}
	}
	for _, path := range []string{"/", "/broken"} {
		w := httptest.NewRecorder()
		handler(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(w.Code, w.Header().Get("Content-Length"), w.Body)
	}
	// Output:
	// 200 14 {"price":9.99}
	// 500  {"error":"internal"}
}
