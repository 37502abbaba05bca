package walktest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The API is checked against the messages behind it: every string or bytes
// field of every message must hold a canary.
func TestEveryStringAndBytesFieldHoldsACanary(t *testing.T) {
	td, planted := Traces()
	assert.NotEmpty(t, planted)
	seen := map[string]string{}
	visit(reflect.ValueOf(td), seen)
	ld, _ := Logs()
	visit(reflect.ValueOf(ld), seen)
	assert.Greater(t, len(seen), 15)
	for field, content := range seen {
		assert.Contains(t, content, Mark, "%s is not filled", field)
	}
}

// visit gathers the contents of the fields of all messages below v.
func visit(v reflect.Value, seen map[string]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			visit(v.Elem(), seen)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f, field := v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name
			if strings.HasSuffix(field, ".state") {
				continue
			}
			switch {
			case f.Kind() == reflect.String:
				seen[field] += f.String()
			case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Uint8:
				seen[field] += string(f.Bytes())
			case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.String:
				for k := range f.Len() {
					seen[field] += f.Index(k).String()
				}
			default:
				visit(f, seen)
			}
		}
	}
}

func TestLeaksNamesThePlaceWhateverTheCase(t *testing.T) {
	_, planted := Traces()
	assert.Empty(t, Leaks([]byte("clean"), planted))
	got := Leaks([]byte("x "+strings.ToUpper(planted[3].Text)+" y"), planted)
	assert.Equal(t, []Canary{planted[3]}, got)
	assert.NotEmpty(t, Leaks([]byte(Mark), planted))
}
