package regress

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Update is what an update changed in the expectations of a case.
type Update struct {
	Expect  string         `json:"expect"`
	Changes []MemberChange `json:"changes,omitempty"`
	// Refused is why nothing was changed although the case did not pass.
	Refused string `json:"refused,omitempty"`
	// Failed is set when the case had something to judge and did not pass.
	Failed bool `json:"-"`
}

// MemberChange is one member: its YAML before, "" where it was not there, and now.
type MemberChange struct {
	Member string `json:"member"`
	Was    string `json:"was,omitempty"`
	Is     string `json:"is"`
}

// UpdateExpectations makes what happened the expectation of each case that did not
// pass or has none yet: exit code and answer, nothing else. Comments of a file stay.
// A case whose replay did not go as expected is refused: what is to be approved there
// are other calls, by a new tape. The error is of the first file that cannot be
// written.
func (r *Report) UpdateExpectations() (updates []Update, err error) {
	for i := range r.Results {
		res := &r.Results[i]
		u, err := res.update()
		if err != nil {
			return updates, err
		}
		if u.Refused != "" || len(u.Changes) > 0 {
			updates = append(updates, u)
		}
	}
	return updates, nil
}

func (r *Result) update() (Update, error) {
	u := Update{Expect: r.Expect, Failed: r.Status == Failed}
	text, err := os.ReadFile(r.Expect)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return u, err
	}
	fresh := err != nil
	if r.Status == Passed && !fresh {
		return u, nil
	}
	for _, f := range r.Failures {
		if !slices.Contains([]string{"exit_code", "answer"}, f.Member) || r.answerCut {
			u.Refused = f.Message
			return u, nil
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return u, fmt.Errorf("%s: %w", r.Expect, err)
	}
	if len(doc.Content) == 0 {
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode, Tag: "!!map"}}}
	}
	root := doc.Content[0]
	if fresh || r.ExitCode != r.expectation.ExitCode {
		u.set(root, "exit_code", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(r.ExitCode)})
	}
	if (fresh || r.expectation.Answer != nil) && !r.answerCut {
		answer := &yaml.Node{}
		answer.SetString(r.Answer)
		u.set(root, "answer", answer)
	}
	if len(u.Changes) == 0 {
		return u, nil
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(&doc), enc.Close()); err != nil {
		return u, fmt.Errorf("%s: %w", r.Expect, err)
	}
	return u, writeWhole(r.Expect, out.Bytes())
}

// set puts a member into a mapping, if it says something else there.
func (u *Update) set(root *yaml.Node, member string, value *yaml.Node) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != member {
			continue
		}
		old := root.Content[i+1]
		if old.Value == value.Value {
			return
		}
		u.Changes = append(u.Changes, MemberChange{member, old.Value, value.Value})
		value.LineComment, value.HeadComment, value.FootComment = old.LineComment, old.HeadComment, old.FootComment
		root.Content[i+1] = value
		return
	}
	u.Changes = append(u.Changes, MemberChange{Member: member, Is: value.Value})
	root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: member}, value)
}

// writeWhole makes a file appear whole or not at all.
func writeWhole(path string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}
