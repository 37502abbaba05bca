// Package scrub redacts traces and logs.
package scrub
