// Package retention says how long what a store holds stays there, and removes the
// rest.
//
// Rules are asked in order when a run is decided; the first that matches gives the
// run its class, which is written into the names of its objects. From then on the
// name alone tells how long it stays, to this package as to the lifecycle rules of
// a bucket.
//
// # What it promises
//
// Nothing goes by a policy that has not stood for the grace period. Each policy is
// noted in the store when it is first seen there; of all that stood within the last
// grace period, the one that keeps longest counts, class by class. So a mistyped
// rule can be mended before it costs anything, and collectors with different
// configurations do not fight: the more generous wins.
//
// Fragments go first, all of an expired run. A blob goes with its class and week,
// when the week has been over for the grace period and no tape is left that was
// stored until then; or when, after that time, no fragment names it. Rows go last.
// Everything is judged and removed object by object and removing twice is no error:
// any number of processes may sweep a store, and one that is killed half way leaves
// what the next takes up.
//
// A plan and a sweep are the same judgement; a plan only does not act on it.
//
// # What it costs
//
// A sweep lists the store once, a class that is over its size again, and holds one
// run of it at a time and one number for each hour. It opens each index file that
// is old enough once while the process lives, and each fragment of a week that has
// bodies once, after the week.
package retention
