// Package cli is the command line of Tapedeck: the verbs of the command tape,
// one a file, on cobra.
//
// It promises that a verb prints what was asked for on standard output and
// everything else on standard error; that an output appears whole or not at
// all; that an error is one line that begins with "tape:"; and that the exit
// code is one of four:
//
//	0  good
//	1  the thing asked about is not so: drift, miss, invalid, gaps, …
//	2  bad usage or unreadable input
//	3  not found or out of reach
//
// except that run ends with the code of its command when the replay was clean.
// Texts from a tape or a server are shown without their control characters, so
// that nothing in them reaches the terminal as a command.
//
// Each verb is a function from the app, which holds the streams and the global
// flags, to a cobra command. No collector service code is linked.
package cli
