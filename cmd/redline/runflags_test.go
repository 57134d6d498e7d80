package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// command runs redline within the test and returns what it printed.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	root := rootCommand(&out, io.Discard)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// TestFlagsThatMakeNoSense checks what run refuses before it does anything.
func TestFlagsThatMakeNoSense(t *testing.T) {
	log := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(log, []byte(`h - - [31/Jan/2026:08:00:00 +0000] "GET /a HTTP/1.1" 200 1`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const url = "http://127.0.0.1:1/"
	for want, args := range map[string][]string{
		"think is for a closed loop":            {url, "--think", "1s", "--rate", "5/s"},
		"poisson arrivals need":                 {url, "--poisson"},
		"carries one request at a time":         {url, "--streams", "3"},
		"exclude each other":                    {url, "--rate", "5/s", "--rate-per-connection", "5/s"},
		"--connect-rate":                        {url, "--connect-rate", "x"},
		"--source":                              {url, "--source", "lo"},
		"256":                                   {url, "--threads", "1000"},
		"requests are not from 1 to":            {url, "-n", "-4"},
		"no request uses it":                    {url, "--insecure"},
		"--cacert":                              {"https://127.0.0.1:1/", "--cacert", "no-such.pem"},
		"needs its key":                         {"https://127.0.0.1:1/", "--cert", certificate(t)},
		"insecure does not verify the server":   {"https://127.0.0.1:1/", "--cacert", certificate(t), "--insecure"},
		"does not name a method":                {"grpc://127.0.0.1:1/"},
		"the requests speak grpc, not h2":       {"grpc://127.0.0.1:1/a.B/C", "--http2"},
		"there are no redirects in grpc":        {"grpc://127.0.0.1:1/a.B/C", "--follow"},
		"--descriptor-set":                      {"grpc://127.0.0.1:1/a.B/C", "--descriptor-set", "no-such.pb"},
		"there is no message to send":           {"ws://127.0.0.1:1/"},
		"if any flags in the group [body data]": {url, "--body", "x", "--data", "y"},
		"takes no rate":                         {url, "--replay", log, "--rate", "5/s"},
		"--speed is for a replay":               {url, "--speed", "2"},
		"are not for a replay":                  {url, "--replay", log, "--data", "x"},
		"4 pairs are too few":                   {url, "--measure-overhead", "--overhead-pairs", "4"},
		"needs a closed loop":                   {url, "--measure-overhead", "--rate", "5/s"},
	} {
		if _, err := command(t, append([]string{"run"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

// certificate writes a file that has the form of a certificate.
func certificate(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(file, []byte(testCertificate), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCompletion(t *testing.T) {
	for want, args := range map[string][]string{
		"min=100ms,max=300ms":   {"run", "--think", ""},
		"PATCH":                 {"run", "--method", ""},
		"yaml\nyml\n:8":         {"run", ""},
		"jsonl":                 {"run", "--replay", ""},
		"--rate-per-connection": {"run", "--rate"},
	} {
		if out, err := command(t, append([]string{"__complete"}, args...)...); err != nil || !strings.Contains(out, want) {
			t.Errorf("%q: %q, %v", args, out, err)
		}
	}
}

// testCertificate is self-signed; its key was thrown away.
const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBJDCBy6ADAgECAgEBMAoGCCqGSM49BAMCMAAwIhgPMDAwMTAxMDEwMDAwMDBa
GA8yMTI2MDEwMTAwMDAwMFowADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABG/I
6x3PgDzwH1ce7QDU5uS4YmSCVdW5WSd6abehj5uyGfmteqbMWqvBodMtPUb0JYJj
XdDVE+JZ1ANw67ToSrajMjAwMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFMwe
KPv+jYserVzV9z7AmD/AS0gkMAoGCCqGSM49BAMCA0gAMEUCIE5Wc3ur0Ea0XSRy
HdSE4PhkVtDGOxLY+1VNI3ln61RGAiEAv9LTxZkRodUpl0ubpwjRkolKWEoevHW7
aA/jeZPu87o=
-----END CERTIFICATE-----
`
