package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"time"
)

const (
	// validity is longer than any run, and skew is how far clocks may be behind.
	validity = 30 * 24 * time.Hour
	skew     = time.Hour
	// maxLeaves bounds the certificates that are kept; a program that asks for more
	// hosts gets them made anew.
	maxLeaves = 1024
)

// Authority makes the certificates of one run. Its key is in memory only, so that a
// client that trusts it trusts nobody else.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// leafKey is that of all hosts: making one takes longer than signing.
	leafKey *ecdsa.PrivateKey

	mu     sync.Mutex
	leaves map[string]*tls.Certificate
	// names are those of the leaves, oldest first.
	names []string
}

// NewAuthority makes an authority.
func NewAuthority() (*Authority, error) {
	a := &Authority{leaves: map[string]*tls.Certificate{}}
	for _, key := range []**ecdsa.PrivateKey{&a.key, &a.leafKey} {
		var err error
		if *key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, fmt.Errorf("key of an authority: %w", err)
		}
	}
	now := time.Now()
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "Tapedeck replay, of this run only"},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(validity),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	var err error
	if a.certificate, _, err = sign(template, nil, a.key, a.key); err != nil {
		return nil, fmt.Errorf("certificate of an authority: %w", err)
	}
	return a, nil
}

// sign makes a certificate for a key, by a parent or by itself.
func sign(template, parent *x509.Certificate, subject, signer *ecdsa.PrivateKey) (*x509.Certificate, []byte, error) {
	var err error
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, nil, err
	}
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &subject.PublicKey, signer)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return certificate, der, err
}

// PEM is the certificate of the authority.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// leaf is a certificate for a host name or an address.
func (a *Authority) leaf(host string) (*tls.Certificate, error) {
	host = strings.ToLower(host)
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.leaves[host]; known != nil {
		return known, nil
	}
	template := &x509.Certificate{
		NotBefore:   a.certificate.NotBefore,
		NotAfter:    a.certificate.NotAfter,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	// The name of a subject has 64 characters at most, and nobody reads it.
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	certificate, der, err := sign(template, a.certificate, a.leafKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("certificate for %q: %w", host, err)
	}
	made := &tls.Certificate{Certificate: [][]byte{der, a.certificate.Raw}, PrivateKey: a.leafKey, Leaf: certificate}
	if len(a.names) == maxLeaves {
		delete(a.leaves, a.names[0])
		a.names = a.names[1:]
	}
	a.leaves[host] = made
	a.names = append(a.names, host)
	return made, nil
}
