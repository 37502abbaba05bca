// Package dialect turns the spans of an agent run into its tape.
package dialect
