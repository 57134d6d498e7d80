package secrets

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// verbs runs redline's verbs, those that load a service first.
func (t *trial) verbs(ctx context.Context) error {
	p := t.all
	any := []int{0, 1, 2, 3}
	out := func(name string) string { return filepath.Join(t.out, name) }
	end := t.database(ctx)
	err := t.redline(ctx, "run --build", []int{0, 1, 3},
		"run", "scenario.yaml", "-v", "--plain", "-o", out("built"), "--history", out("history.db"), "--postgres", t.db.DSN)
	if err := errors.Join(err, end()); err != nil {
		return err
	}
	t.inherited = append(t.inherited, "DIES=1")
	if err := t.redline(ctx, "run --exec", []int{3}, "run", "exec.yaml", "-v", "--plain", "--all", "-o", out("died")); err != nil {
		return err
	}
	t.inherited = t.inherited[:len(t.inherited)-1]
	type verb struct {
		name  string
		exits []int
		args  []string
	}
	verbs := []verb{
		{"diagnose", any, []string{"diagnose", out("built")}},
		{"report text", any, []string{"report", out("built"), "--all"}},
		{"report md", any, []string{"report", out("built"), "--format", "md", "-o", out("report.md")}},
		{"report json", any, []string{"report", out("built"), "--format", "json"}},
		{"report html", any, []string{"report", out("died"), "--format", "html", "-o", out("died.html")}},
		{"report died", any, []string{"report", out("died"), "--all"}},
		{"compare", any, []string{"compare", out("built"), out("built"), "--flame", out("flame.html"), "--markdown", out("compare.md")}},
		{"history add", any, []string{"history", "add", "--history", out("history.db"), out("built")}},
		{"history", any, []string{"history", "--history", out("history.db"), "--json", "--dirty"}},
		{"history dsn", []int{1, 2, 3}, []string{"history", "--history", "postgres://u:" + p["history dsn"] + "@127.0.0.1:1/x"}},
		{"lint", any, []string{"lint", "--profile", out("built"), "."}},
		{"wrong scenario", []int{2}, []string{"run", "wrong.yaml"}},
		{"wrong url", []int{2}, []string{"run", "htp://u:" + p["url userinfo"] + "@" + t.address + "/?token=" + p["wrong url"]}},
		{"wrong dsn", any, []string{"doctor", "--postgres", "postgres://u:" + p["dsn url"] + "@127.0.0.1:1/x?sslpassword=" + p["wrong dsn"]}},
		{"tls", []int{1, 2, 3}, []string{"run", "https://127.0.0.1:1/", "--cert", "cert.pem", "--key",
			"key.pem", "-d", "1s", "--warmup", "0s", "-o", out("tls"), "--plain",
			"--otlp-metrics", "http://u:" + p["export url"] + "@127.0.0.1:1/"}},
		{"replay", []int{0, 1, 3}, []string{"run", "http://" + t.address, "--replay", "access.log",
			"--exec", "./service", "--plain", "-o", out("replay")}},
		{"keyword dsn", any, []string{"doctor", "--postgres", t.keywordDSN(p["dsn keywords"]), "--json"}},
	}
	if !t.quick {
		verbs = append(verbs, verb{"ab", []int{0, 1, 3}, []string{"ab", "scenario.yaml", "--env-a", "PASSWORD=" +
			p["env-a"], "--env-b", "PASSWORD=" + p["env-a"], "--block", "500ms", "--max-time", "60s",
			"--pairs", "8", "-o", out("ab"), "--junit", out("ab.xml"), "--sarif", out("ab.sarif"), "--markdown", out("ab.md")}})
	}
	for _, v := range verbs {
		if err := t.redline(ctx, v.name, v.exits, v.args...); err != nil {
			return err
		}
	}
	return nil
}

// database uses the database as applications with secrets do, until the returned
// function is called, which says what kept it from that.
func (t *trial) database(ctx context.Context) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		err := t.statements(ctx)
		if ctx.Err() != nil {
			err = nil // it was ended
		}
		done <- err
	}()
	return func() error { cancel(); return <-done }
}

func (t *trial) statements(ctx context.Context) error {
	u, err := url.Parse(t.db.DSN)
	if err != nil {
		return err
	}
	q := u.Query()
	q.Set("application_name", "app "+t.all["sql application name"])
	u.RawQuery = q.Encode()
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	p := strings.NewReplacer("LITERAL", t.all["sql literal"], "ESCAPED", t.all["sql escaped literal"], "DOLLAR", t.all["sql dollar quote"],
		"COMMENT", t.all["sql comment"], "NUMBER", t.all["sql number"], "PASSWD", t.all["sql role password"])
	for _, text := range []string{"CREATE EXTENSION IF NOT EXISTS pg_stat_statements",
		"CREATE TABLE IF NOT EXISTS t (a text, n numeric)", "CREATE ROLE planted"} {
		if _, err := conn.Exec(ctx, text); err != nil {
			return err
		}
	}
	for range time.Tick(50 * time.Millisecond) {
		for _, text := range []string{
			"SELECT count(*) FROM t WHERE a = 'LITERAL'", `SELECT count(*) FROM t WHERE a = E'\'ESCAPED'`,
			"SELECT count(*) FROM t WHERE a <> $tag$DOLLAR$tag$",
			"SELECT /* token=COMMENT */ max(a) FROM t -- session COMMENT", "SELECT count(n) FROM t WHERE n = NUMBER",
			"ALTER ROLE planted PASSWORD 'PASSWD'", "SET app.pin = 'LITERAL'", "DO $$ BEGIN PERFORM 'DOLLAR'; END $$",
		} {
			if _, err := conn.Exec(ctx, p.Replace(text)); err != nil {
				return err
			}
		}
		// The last statement of an idle connection is read too.
		if _, err := conn.Exec(ctx, p.Replace("SELECT 'LITERAL' /* COMMENT */"), pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	return nil
}
