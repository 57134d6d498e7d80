// Command seal-documents hands out documents with the notary's seal, which is
// computed for each download.
package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"log"

	"github.com/valyala/fasthttp"
)

type notary struct {
	key      *rsa.PrivateKey
	document []byte
}

func (n notary) seal() (string, error) {
	sum := sha256.Sum256(n.document)
	signature, err := rsa.SignPKCS1v15(nil, n.key, crypto.SHA256, sum[:])
	return base64.StdEncoding.EncodeToString(signature), err
}

func (n notary) serve(ctx *fasthttp.RequestCtx) {
	if string(ctx.Path()) == "/healthz" {
		return
	}
	text, err := n.seal()
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	ctx.Response.Header.Set("X-Seal", text)
	ctx.SetBody(n.document)
}

func main() {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		log.Fatal(err)
	}
	n := notary{key: key, document: []byte("deed of sale, lot 88")}
	log.Fatal(fasthttp.ListenAndServe("127.0.0.1:9707", n.serve))
}
