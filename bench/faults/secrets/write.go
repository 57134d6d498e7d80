package secrets

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/redline-go/redline/service/port"
)

// write makes the service, the scenarios and all files that they name.
func (t *trial) write(ctx context.Context) (err error) {
	for _, dir := range []string{t.in, t.out} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if t.address, err = port.Reserve("127.0.0.1"); err != nil {
		return err
	}
	if t.otlp, err = port.Reserve("127.0.0.1"); err != nil {
		return err
	}
	key, cert, err := t.certificate()
	if err != nil {
		return err
	}
	shown, err := json.Marshal(t.all)
	if err != nil {
		return err
	}
	p := t.all
	for name, text := range map[string]string{
		"go.mod": "module example.com/shop\n\ngo 1.24\n", "main.go": service, "plants.json": string(shown),
		"key.pem": key, "cert.pem": cert,
		"users.csv": fmt.Sprintf("id,password,access\n1,%s,%s\n", p["feeder column"], p["feeder token"]),
		"access.log": fmt.Sprintf(
			"1.1.1.1 - - [31/Jan/2026:08:00:00 +0000] \"GET /reset?token=%s HTTP/1.1\" 200 1 \"-\" \"-\"\n"+
				"1.1.1.1 - - [31/Jan/2026:08:00:01 +0000] \"GET /magic;session=%s HTTP/1.1\" 200 1 \"-\" \"-\"\n",
			p["replay query"], p["replay path"]),
		"scenario.yaml": t.scenario("build: ."), "exec.yaml": t.scenario("exec: " + t.command()),
		"wrong.yaml": fmt.Sprintf("requests:\n"+
			"  - {get: \"http://%s/\", headers: {Authorisation: x, password: \"%s\"}, nonsense: 1}\n",
			t.address, p["wrong scenario"]),
	} {
		if err := os.WriteFile(filepath.Join(t.in, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	t.inherited = []string{
		"INHERITED_API_KEY=" + p["env inherited"], "INHERITED_PIN=" + p["env inherited short"], "HEADER_VALUE=" + p["header from env"],
		"JWT_KEY=" + p["jwt key"], "OTLP_VALUE=" + p["otlp token"], "ADDR=" + t.address,
		"PLANTS=" + filepath.Join(t.in, "plants.json"), "TMPDIR=" + t.Scratch,
	}
	for _, carrier := range byValue {
		t.inherited = append(t.inherited, "PLANT_"+strings.ToUpper(strings.ReplaceAll(carrier, " ", "_"))+"_SECRET="+p[carrier])
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", "service", ".")
	build.Dir = t.in
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the service: %w\n%s", err, out)
	}
	return nil
}

// command starts the service through a shell, with secrets in its arguments.
func (t *trial) command() string {
	p := t.all
	return fmt.Sprintf(
		`["sh", "-c", "SHELL_TOKEN=%s exec \"$0\" \"$@\"", "./service", "-p", "%s", "--passphrase", "%s", `+
			`"--api-key=%s", "--upstream", "http://svc:%s@h/", "DB_PASSWORD=%s"]`,
		p["sh -c"], p["exec -p"], p["exec flag"], p["exec flag="], p["exec url"], p["exec env"])
}

// scenario has a secret wherever a scenario can hold one.
func (t *trial) scenario(how string) string {
	p := t.all
	return strings.NewReplacer("HOST", t.address, "HOW", how, "OTLP", t.otlp).Replace(fmt.Sprintf(`
target:
  HOW
  args: ["--auth-token", "%s"]
  env: {ADDR: "HOST", PLANTS: "%s", GIVEN_PIN: "%s", UPSTREAM: "postgres://svc:%s@127.0.0.1/x"}
  ready: http://HOST/health?token=%s
load: {connections: 2, duration: 2500ms, warmup: 200ms}
redact: [X-Mine]
data:
  user: {file: users.csv}
  signed: {jwt: {key: $JWT_KEY, claims: {sub: "{{user.id}}"}}}
observe: {otlp: "OTLP", otlp_token: $OTLP_VALUE, pprof: "http://HOST/debug/pprof"}
requests:
  - name: "login token=%s"
    post: "http://HOST/login?uid=42&token=%s&code=%s&sig=%s&access={{user.access}}"
    headers:
      Authorization: "Bearer %s"
      X-Auth-User: "%s"
      X-Session-Tag: "%s"
      X-Jwt-Assertion: "%s"
      Authentication: "%s"
      X-Mine: "%s"
      X-Region: "$HEADER_VALUE"
      Cookie: "theme=dark; sid=%s"
    body: '{"user": "{{user.id}}", "pass": "%s", "pins": {"pin": ["%s"]}}'
    checks:
      - {body: {contains: '"password":"%s"'}}
      - {header: X-Mine, equals: "%s"}
  - {name: yaml, post: "http://HOST/yaml", body: "db:\n  passphrase: %s\n"}
  - {name: form, post: "http://HOST/form", body: "user={{user.id}}&pwd=%s&mine={{user.password}}"}
  - {name: moved, get: "http://HOST/moved", follow: true}
  - {name: fails, get: "http://HOST/fails", headers: {Authorization: "Bearer {{signed}}"}}
`, p["args after --"], filepath.Join(t.in, "plants.json"), p["env given"], p["env dsn"], p["ready url"],
		p["request name"], p["query token"], p["query code"], p["query sig"],
		p["header authorization"], p["header x-auth"], p["header x-session"], p["header x-jwt-assertion"], p["header authentication"],
		p["header redacted"], p["cookie"], p["body json"], p["body json array"], p["check equals"],
		p["check header"], p["body yaml"], p["body form"]))
}

// certificate makes a client's key and certificate; the plant is a line of the
// key.
func (t *trial) certificate() (key, cert string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "client"},
		NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return "", "", err
	}
	key = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	t.all["tls key"] = strings.Split(key, "\n")[2][:40]
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})), nil
}

// keywordDSN is the database's DSN in its other form, with a wrong password.
func (t *trial) keywordDSN(password string) string {
	u, err := url.Parse(t.db.DSN)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("host=%s port=%s user=%s dbname=postgres password='%s x'", u.Hostname(), u.Port(), u.User.Username(), password)
}
