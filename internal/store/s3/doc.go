// Package s3 is the backend of a store in a bucket of S3 or of what speaks its
// protocol.
//
// An object of the store is an object of its name below the prefix. One above
// the part size goes up in equal parts, and an upload that fails is aborted, so
// that a reader sees the whole object or none.
//
// # Writing the same twice
//
// A put asks the bucket to refuse an object that exists. That it exists is then
// the success of somebody's write, perhaps of this one whose answer was lost,
// once its length is seen to be the same; another length is written over. A
// bucket that ignores the condition writes the same bytes again, and one that
// does not know it is asked without.
//
// # Faults
//
// What may go away by itself (408, 409, 429, 500, 502, 503, 504, connections that
// break, answers that stall or are cut, bodies that arrived damaged) is tried again
// with growing, jittered pauses, at most [Config.MaxAttempts] times. What never will
// (400, 405, 411, 413, ...) is [store.ErrRefused]. Missing permission, expired
// credentials, a key of encryption that is switched off, a bucket that is missing
// and a clock that is off are neither: somebody can mend them, so the caller should
// try again later. [Config.Observe] is told of every request.
package s3
