package triage

import (
	"fmt"
	"strings"

	"github.com/tapedeck/tapedeck/internal/attribution"
)

// Next is a command to type next, and what it is good for.
type Next struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// Advise fills in the commands to type next, as words of a shell.
func (r *Report) Advise(in *Input) {
	name := in.Name
	if name == "-" {
		// What was on standard input is there no more.
		name = "FILE"
	}
	file := name
	add := func(why string, words ...string) {
		for i := range words {
			words[i] = quote(words[i])
		}
		r.Next = append(r.Next, Next{"tape " + strings.Join(words, " "), why})
	}
	if r.Saved != nil {
		file = r.Saved.Tape
	} else if !in.IsFile {
		file = name + ".jsonl"
		add("the tape as a file, for the commands below", "pull", name, "-o", file)
	}
	command := in.Command
	if len(command) == 0 {
		command = []string{"CMD"}
	}
	run := func(verb ...string) []string { return append(append(verb, "--"), command...) }
	if seq := r.failing(); seq > 0 {
		add("the failing call, whole", "show", file, "--step", fmt.Sprint(seq))
	}
	if !r.Replays() {
		add("what the tape lacks, and what to switch on for the next one", "doctor", file)
	}
	if r.Why.Run != nil && r.Why.Run.Class == attribution.SchemaMismatch && !r.ToolsNow {
		add("the arguments against the schemas of now", "dry", file, "--tools", "TOOLS.json")
	}
	if r.Good != nil && !r.Good.Same {
		add("all that differs from the good run", "diff", r.Good.A.Name, file, "--html", "diff.html")
	}
	if r.Mock == nil {
		add("the code of now against the recorded answers", run("run", file)...)
	} else if !r.Mock.Report.Clean {
		add("where the code of now parts from the recording", run("run", file, "--report", "report.json")...)
		add("the same as a comparison", "diff", file, "report.json")
	}
	if r.failing() > 0 {
		add("the least of the tape that shows the failure", run("trim", file, "-o", "small.jsonl", "--check")...)
	}
	if r.Saved != nil {
		add("this run with the others of the set", run("test", r.Saved.Dir)...)
	} else {
		add("keep it as a case of the regression set", "triage", name, "--save", "tapes")
	}
}

// failing is the step that made the run fail or, where only the root tells of that,
// the last that failed; 0 for none.
func (r *Report) failing() int {
	if f := r.Why.Run; f != nil && f.Seq > 0 {
		return f.Seq
	}
	if n := len(r.Why.Records); n > 0 {
		return r.Why.Records[n-1].Seq
	}
	return 0
}

// quote makes a word safe for a shell, if it is not.
func quote(word string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"
	if word != "" && strings.Trim(word, safe) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
