// Command tls-vault hands out sealed blobs over TLS connections that stay open.
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"log"
	"math/big"
	"net"
	"net/http"
	"time"
)

func identity() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func main() {
	blob := bytes.Repeat([]byte("c2VhbGVk"), 2048)
	mux := http.NewServeMux()
	mux.HandleFunc("/secret", func(w http.ResponseWriter, _ *http.Request) { w.Write(blob) })
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	server := &http.Server{Addr: "127.0.0.1:9731", Handler: mux, TLSConfig: &tls.Config{Certificates: []tls.Certificate{identity()}}}
	log.Fatal(server.ListenAndServeTLS("", ""))
}
