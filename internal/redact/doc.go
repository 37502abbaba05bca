// Package redact takes secrets out of texts and JSON. What it replaces becomes
// "[REDACTED:<type>]"; where the type of a value must stay, a number becomes 0
// and true becomes false.
//
// # What is secret
//
// By name, at any depth of JSON, also inside JSON strings however often they
// were encoded, and in other notations of names and values: query strings,
// headers, command lines, assignments, Python and JavaScript literals, XML
// elements, JSON that was cut. A name is split into words, so that db.password,
// dbPassword and DB-PASSWORD are one; words around it can make it something
// else, as in max_tokens or password_policy. Everything below a secret name is
// secret, save a JSON schema that only describes it. See keydata.go.
//
// By form, wherever it stands: keys of clouds, model providers, code hosts,
// payment and messaging services, private keys, JSON web tokens, credentials in
// headers, URLs and commands, e-mail addresses, card numbers; account and
// telephone numbers by option. See the rules_*.go and forms.go. Of a text only
// the matched range is replaced, and an allowed expression exempts only the
// range it matches.
//
// Base64 that is no text is opaque: no rule looks inside. See opaque.go.
//
// With a key, surrogates take the place of placeholders: equal for equal
// secrets, and of the same form. See surrogateform.go.
//
// # What it promises
//
//   - Redacting what is redacted changes nothing: a text is gone over until
//     nothing is found in it. Surrogates are known to every policy, whatever
//     its key.
//   - Redacting a JSON text gives what redacting its parsed value gives, so that
//     a key computed when a call is recorded and one computed when it is
//     replayed agree, whatever notation the arguments came in.
//   - JSON stays valid, and all of it stays byte for byte but the leaves and
//     names that are replaced. Bytes that are not UTF-8 survive.
//   - Ids, digests, times and counts stay.
//   - It fails closed and small: a value that a rule cannot judge, or that
//     would keep rules busy, becomes "[REDACTED:error]", the values around it
//     are redacted as ever.
//   - A hostile text costs time in proportion to its length.
//
// What has no name and no form is not found: a password in the middle of a
// sentence, a secret split over two values, a picture of one.
//
// # What it costs
//
// Nothing is allocated for input that stays as it is. One core of a shared
// virtual machine (AMD EPYC, both cores busy with other work), by CPU time of
// the thread, the least and the most of several runs of the texts of
// bench_test.go:
//
//	plain text, nothing to redact      540 to 570 MB/s
//	plain text, a hit per KiB          145 to 205 MB/s
//	JSON messages, nothing to redact   265 to 300 MB/s
//	JSON messages, a hit per KiB       100 to 140 MB/s
//	JSON messages of signatures        475 to 515 MB/s
//
// One pass over the text finds candidates: a table over hashes of three bytes
// tells where a keyword can stand, six positions at a time. Only there an
// expression runs, and a check (check digit, mixture, entropy) decides. Names
// are looked at where a colon, an equals sign, a > or -- stands, and judged if
// three letters in a row can be those of a secret one. A policy holds about
// 100 KB, its tables of names it has seen and of keywords.
package redact
