// Package rules holds what a replay may take for the same although it differs,
// declared by people and printed in every report.
package rules
