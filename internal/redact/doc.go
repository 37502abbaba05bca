// Package redact replaces secrets in texts and JSON by "[REDACTED:<type>]".
package redact
