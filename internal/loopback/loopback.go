// Package loopback tells requests that were meant for this machine from those that
// a web page elsewhere made a browser send here. A server that binds to loopback
// is still reached by every browser on the machine, under any name that a page's
// DNS server cares to resolve to it.
package loopback

import (
	"net"
	"net/http"
	"net/url"
)

// Name reports whether a host, with or without a port, names this machine and can
// mean no other.
func Name(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(trimBrackets(host))
	return ip != nil && ip.IsLoopback()
}

func trimBrackets(host string) string {
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		return host[1 : len(host)-1]
	}
	return host
}

// Refuse says why a server on loopback must not answer a request, "" when it may:
// the request must name the machine by a loopback name, and must not come from a
// web page of another.
func Refuse(r *http.Request) string {
	if !Name(r.Host) {
		return "this server answers to loopback names only"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if page, err := url.Parse(origin); err != nil || !Name(page.Host) {
			return "this server answers no web page from elsewhere"
		}
	}
	return ""
}
