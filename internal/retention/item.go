package retention

import (
	"context"
	"time"
)

// Kind says what an Item is.
type Kind string

// Kinds, in the order in which they go.
const (
	// KindTape is a run with all its fragments of one class.
	KindTape Kind = "tape"
	// KindBlob is a body.
	KindBlob Kind = "blob"
	// KindRows are rows in one file of the index.
	KindRows Kind = "rows"
	// KindLeftover is what a write that was never finished left behind.
	KindLeftover Kind = "leftover"
)

// Item is something that goes.
type Item struct {
	Kind Kind `json:"kind"`
	// Tenant is "" for runs without one.
	Tenant string `json:"tenant,omitempty"`
	// Class is "" for rows, which are together whatever their class.
	Class   string `json:"class,omitempty"`
	TraceID string `json:"trace_id,omitempty"`
	// Name is that of the object, or of the folder of a run.
	Name string `json:"name"`
	// Count is of fragments, of rows, or one.
	Count int `json:"count"`
	// Bytes are stored bytes; 0 for rows that are taken out of a file.
	Bytes int64 `json:"bytes"`
	// Stored is when it was stored; for rows the hour in which they were decided.
	Stored time.Time `json:"stored"`
	// Reason says why it goes.
	Reason string `json:"reason"`
}

// Finding is something to know about a store that nothing is done about.
type Finding struct {
	Tenant string `json:"tenant,omitempty"`
	Class  string `json:"class,omitempty"`
	Text   string `json:"text"`
}

// actor is told of each item. It removes it by calling remove, or does not.
// A false answer says that it is still there.
type actor interface {
	item(ctx context.Context, item Item, remove func(context.Context) error) bool
	finding(f Finding)
}
