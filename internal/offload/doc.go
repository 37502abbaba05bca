// Package offload takes large bodies out of a trace and puts them back.
package offload
