package message

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// Form is the neutral JSON form of a settled message, written once however often
// the message is repeated.
type Form struct {
	// Text is the form, nil until the message is settled.
	Text []byte

	canonical []byte
	asked     bool

	value  value.Value
	parsed bool
}

// Settle writes the form of a message once and for all: it must not change
// afterwards, nor may any other reading of the same text.
func (m *Message) Settle() *Form {
	if m.form == nil {
		m.form = &Form{}
	}
	if m.form.Text == nil {
		m.form.Text = m.Append(nil)
	}
	return m.form
}

// Clone is the message in memory of its own: it keeps no text alive that it was
// read from.
func (m Message) Clone() Message {
	m.Role, m.Name, m.FinishReason = strings.Clone(m.Role), strings.Clone(m.Name), strings.Clone(m.FinishReason)
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Text, p.ID, p.Name, p.ArgsText = strings.Clone(p.Text), strings.Clone(p.ID), strings.Clone(p.Name), strings.Clone(p.ArgsText)
		p.Args, p.Result, p.Raw = p.Args.Clone(), p.Result.Clone(), p.Raw.Clone()
	}
	return m
}

// Same reports whether two settled messages are the same to the letter.
func (m *Message) Same(o *Message) bool {
	return bytes.Equal(m.Text(), o.Text()) && slices.EqualFunc(m.Parts, o.Parts, func(a, b Part) bool { return a.ArgsText == b.ArgsText })
}

// Form is that of a settled message, nil of any other.
func (m *Message) Form() *Form {
	if m.form == nil || m.form.Text == nil {
		return nil
	}
	return m.form
}

// Shared reports whether the message was read from an element of a
// [value.Memo], which owns its text.
func (m *Message) Shared() bool { return m.shared }

// Text is the form of a settled message, nil of any other.
func (m *Message) Text() []byte {
	if m.form == nil {
		return nil
	}
	return m.form.Text
}

// AppendCanonical appends the canonical form of the message. It is kept from the
// second call on: most messages are asked for it once. The error is that of
// [tape.Canonical], which no form that was read from a value has.
func (f *Form) AppendCanonical(dst []byte) ([]byte, error) {
	if f.canonical != nil {
		return append(dst, f.canonical...), nil
	}
	from := len(dst)
	dst, err := tape.AppendCanonical(dst, f.Text)
	if err == nil && f.asked {
		f.canonical = bytes.Clone(dst[from:])
	}
	f.asked = true
	return dst, err
}

// Holding is the message as a value if its form holds a text, null otherwise.
func (f *Form) Holding(text string) value.Value {
	if !f.parsed {
		f.parsed = true
		if bytes.Contains(f.Text, []byte(text)) {
			// A form is JSON, which is refused for its depth alone: null then.
			f.value, _ = value.Parse(string(f.Text))
		}
	}
	return f.value
}
