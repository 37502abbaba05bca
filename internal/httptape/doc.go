// Package httptape is the form of an HTTP exchange on a tape, and finds the record
// that a request was.
//
// A record of kind tool is an HTTP exchange if its arguments have a method and an
// absolute URL, and its result has a status:
//
//	"tool": "http",
//	"args": {"method": "POST", "url": "https://api.example.com/v1/orders?dry=1",
//	         "headers": {"Content-Type": "application/json"}, "body": {"sku": 7}},
//	"result": {"status": 201, "headers": {"Content-Type": ["application/json"]},
//	           "body": "{\"id\": \"o-1\"}"}
//
// The name of the tool is free. A body that is a string is the text as it was, any
// other value is JSON, and "body_base64" holds what is no text; bodies are decoded, so
// that no record depends on a compression. The values of headers are strings or
// arrays of strings. "status_code" and "statusCode" are read for "status", as many
// recorders have it.
//
// # What is the same request
//
// The method; the URL with the host in lower case, without the default port and the
// fragment, and with the query sorted by name; the body, where JSON is compared as
// JSON and the boundary of a multipart body does not count; and of the headers those
// that the record has, but for those that differ from run to run (see [volatile]).
// Both sides are redacted before.
//
// Finding the record of a request costs its form and one look-up. An answer is
// written piece by piece, without a second copy.
package httptape
