package regress

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Time     string     `xml:"time,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string      `xml:"name,attr"`
	Class   string      `xml:"classname,attr"`
	File    string      `xml:"file,attr"`
	Time    string      `xml:"time,attr"`
	Failure *junitFault `xml:"failure,omitempty"`
	Error   *junitFault `xml:"error,omitempty"`
	Out     string      `xml:"system-out,omitempty"`
	Err     string      `xml:"system-err,omitempty"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report as JUnit XML.
func (r *Report) JUnit(w io.Writer) error {
	seconds := func(s float64) string { return fmt.Sprintf("%.3f", s) }
	const name = "tape test"
	suite := junitSuite{Name: name, Tests: r.Counts.Cases, Failures: r.Counts.Failed, Errors: r.Counts.Errors, Time: seconds(r.Seconds)}
	for i := range r.Results {
		res := &r.Results[i]
		c := junitCase{Name: res.Name, Class: name, File: res.Tape, Time: seconds(res.Seconds)}
		if len(res.Failures) > 0 {
			fault := &junitFault{Message: res.Failures[0].Message, Type: res.Failures[0].Member, Text: res.messages()}
			if res.Status == Broken {
				c.Error = fault
			} else {
				c.Failure = fault
			}
			c.Out, c.Err = res.Answer, res.Errors
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	all := junitSuites{
		Name: name, Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Time: suite.Time, Suite: suite,
	}
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *Result) messages() string {
	lines := make([]string, len(r.Failures))
	for i := range r.Failures {
		lines[i] = r.Failures[i].Message
	}
	return strings.Join(lines, "\n")
}
