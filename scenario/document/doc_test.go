package document

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const docFile = "../../docs/scenario.md"

// TestDocumentedScenarios parses every block of YAML in the documentation.
func TestDocumentedScenarios(t *testing.T) {
	text, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatchIndex(string(text), -1)
	if len(blocks) < 10 {
		t.Fatalf("%d blocks", len(blocks))
	}
	files := docFiles(t)
	env := func(name string) (string, bool) {
		return "x", slices.Contains([]string{"JWT_SECRET", "DATABASE_URL", "SESSION", "OTLP_TOKEN"}, name)
	}
	for _, at := range blocks {
		block := string(text[at[2]:at[3]])
		if _, err := parse(files, "block.yaml", []byte(block), env); err != nil {
			t.Errorf("%s, block at line %d: %v", docFile, strings.Count(string(text[:at[2]]), "\n")+1, err)
		}
	}
}

// docFiles are the files that the documentation's scenarios name.
func docFiles(t *testing.T) fstest.MapFS {
	files := testFiles(t)
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
	files["jwt.pem"] = &fstest.MapFile{Data: key}
	for name, same := range map[string]string{"ca.pem": "cert.pem", "client.pem": "cert.pem", "client.key": "key.pem",
		"shop.binpb": "schema.pb"} {
		files[name] = files[same]
	}
	return files
}

// TestEveryKeyIsDocumented compares the keys that the decoder is written with
// with what stands in code in the documentation.
func TestEveryKeyIsDocumented(t *testing.T) {
	text, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, code := range regexp.MustCompile("`[^`\n]+`").FindAllString(string(text), -1) {
		for _, word := range regexp.MustCompile(`[a-z_]+`).FindAllString(code, -1) {
			documented[word] = true
		}
	}
	keys := decoderKeys(t)
	if len(keys) < 60 {
		t.Fatalf("only %d keys were found: %q", len(keys), keys)
	}
	for _, name := range keys {
		if !documented[name] && !slices.Contains([]string{"faults"}, name) { // of a later version
			t.Errorf("%s does not report the key %s", docFile, name)
		}
	}
}

// decoderKeys finds the names in the package's source: key{name: "x"}, and
// what is passed to the functions that make keys.
func decoderKeys(t *testing.T) (names []string) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			var value ast.Expr
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && id.Name == "name" {
					value = n.Value
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 1 &&
					slices.Contains([]string{"rate", "count", "duration", "source", "pemFile"}, id.Name) {
					value = n.Args[0]
				}
			}
			if lit, ok := value.(*ast.BasicLit); ok && !strings.HasSuffix(file, "_test.go") {
				names = append(names, strings.Trim(lit.Value, `"`))
			}
			return true
		})
	}
	return names
}
