package redact

// builtinKeys is data: which names are secret.
func builtinKeys() keyTables {
	return keyTables{
		Phrases: []keyPhrase{
			{Words: "password", Type: "password", Strong: true, Suffix: true},
			{Words: "passwords", Type: "password", Suffix: true},
			{Words: "passwd", Type: "password", Strong: true, Suffix: true},
			{Words: "passphrase", Type: "password", Strong: true, Suffix: true},
			{Words: "pwd", Type: "password", Suffix: true},
			{Words: "api key", Type: "api_key", Strong: true, Suffix: true},
			{Words: "api keys", Type: "api_key", Suffix: true},
			{Words: "secret key", Type: "secret", Strong: true, Suffix: true},
			{Words: "private key", Type: "private_key", Strong: true, Suffix: true},
			{Words: "access key", Type: "access_key", Strong: true, Suffix: true},
			{Words: "client secret", Type: "secret", Strong: true, Suffix: true},
			{Words: "access token", Type: "token", Strong: true, Suffix: true},
			{Words: "auth token", Type: "token", Strong: true, Suffix: true},
			{Words: "session token", Type: "token", Strong: true, Suffix: true},
			{Words: "refresh token", Type: "token", Strong: true, Suffix: true},
			{Words: "bearer token", Type: "token", Strong: true, Suffix: true},
			{Words: "token", Type: "token"},
			{Words: "secret", Type: "secret"},
			{Words: "secrets", Type: "secret"},
			{Words: "credential", Type: "credential"},
			{Words: "credentials", Type: "credential"},
			{Words: "authorization", Type: "authorization"},
			{Words: "cookie", Type: "cookie"},
			{Words: "cookies", Type: "cookie"},
		},
		Before: []string{"next", "page", "continuation", "max", "min", "has", "is", "first", "per", "progress"},
		After:  []string{"count", "counts", "type", "limit", "url", "uri", "endpoint", "expiry", "expires", "id", "name", "policy", "consent"},
		Same:   []string{"value", "raw", "string", "old", "new", "current", "confirm", "confirmation"},
	}
}
