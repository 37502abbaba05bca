package policy

import "github.com/tapedeck/tapedeck/internal/yamlfile"

// ReadFile reads a policy from a YAML or JSON file. An error is one line that
// names the file, the line and the field.
func ReadFile(name string) (*Policy, error) {
	var f File
	var p *Policy
	err := yamlfile.Read(name, &f, func() (err error) {
		p, err = New(f)
		return err
	})
	return p, err
}

// Parse is [ReadFile] for a text.
func Parse(text []byte) (*Policy, error) {
	var f File
	var p *Policy
	err := yamlfile.Decode(text, &f, func() (err error) {
		p, err = New(f)
		return err
	})
	return p, err
}
