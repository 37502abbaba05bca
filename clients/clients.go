// Package clients holds the thin clients, which record and replay the tool calls of
// programs in Python and JavaScript without a server. They are files that run as they
// are, without anything installed, so that a bundle can carry them; this package is how
// Go code gets at them. How they are used is in docs/clients.md.
//
// The client for JavaScript is written as it runs, with its types beside it: what a
// compiler made of TypeScript would be a second copy to keep in step.
package clients

import _ "embed" // the files below

// Python is the client for Python 3.9 and later: a module, and a program that walks a tape.
//
//go:embed python/tape.py
var Python string

// JavaScript is the client for Node 18 and later: an ES module, and a program that walks
// a tape.
//
//go:embed typescript/tape.mjs
var JavaScript string

// TypeScript is the declaration file of [JavaScript].
//
//go:embed typescript/tape.d.mts
var TypeScript string
