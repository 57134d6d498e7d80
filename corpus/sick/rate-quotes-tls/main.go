// Command rate-quotes-tls quotes freight rates over TLS, a connection for each
// quote.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"log"
	"math/big"
	"net"
	"net/http"
	"time"
)

func identity() tls.Certificate {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
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
	mux := http.NewServeMux()
	mux.HandleFunc("/quote", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("EUR 412.50")) })
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	server := &http.Server{Addr: "127.0.0.1:9711", Handler: mux, TLSConfig: &tls.Config{Certificates: []tls.Certificate{identity()}}}
	server.SetKeepAlivesEnabled(false)
	log.Fatal(server.ListenAndServeTLS("", ""))
}
