package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

type parameter struct {
	Ref  string `yaml:"$ref"`
	Name string
	In   string
}

type operation struct {
	OperationID string `yaml:"operationId"`
	Parameters  []parameter
	Responses   map[string]struct {
		Content map[string]any
		Headers map[string]any
	}
}

type description struct {
	Paths map[string]struct {
		Get, Post, Delete *operation
	}
	Components struct {
		Schemas map[string]struct {
			Properties map[string]struct {
				Properties map[string]struct{ Enum []string }
			}
		}
	}
}

func describe(t *testing.T) *description {
	t.Helper()
	text, err := os.ReadFile("../../docs/openapi.yaml")
	require.NoError(t, err)
	var d description
	require.NoError(t, yaml.Unmarshal(text, &d))
	return &d
}

// The description names what the handlers answer, no more and no less.
func TestTheDescriptionIsWhatTheHandlersDo(t *testing.T) {
	d := describe(t)
	f := newFixture(t)
	stored := storetest.List(t, f.backend, "blobs/")[0].Name
	hash := strings.TrimSuffix(path.Base(stored), ".zst")
	for template, item := range d.Paths {
		target := strings.NewReplacer("{trace_id}", kept, "{hash}", hash).Replace(template)
		methods := map[string]*operation{"GET": item.Get, "POST": item.Post, "DELETE": item.Delete}
		for _, method := range []string{"GET", "POST", "DELETE"} {
			op := methods[method]
			if op == nil {
				assert.Equal(t, http.StatusMethodNotAllowed, f.do(method, target).Code, method+" "+template)
				continue
			}
			w := f.do(method, target)
			said, ok := op.Responses[strconv.Itoa(w.Code)]
			require.True(t, ok, "%s %s answers %d", method, template, w.Code)
			if w.Code == http.StatusOK && len(said.Content) > 0 {
				assert.Contains(t, said.Content, w.Header().Get("Content-Type"), template)
			}
			for name := range said.Headers {
				assert.NotEmpty(t, w.Header().Get(name), template+" "+name)
			}
			for name := range w.Header() {
				if strings.HasPrefix(name, "Tapedeck-") {
					assert.Contains(t, said.Headers, name, template)
				}
			}
			assert.Equal(t, op.OperationID+" "+http.StatusText(w.Code), f.seen[len(f.seen)-1])
			if method == "DELETE" {
				f = newFixture(t)
			}
		}
	}
}

func TestTheDescriptionHasTheParameters(t *testing.T) {
	f := newFixture(t)
	for path, item := range describe(t).Paths {
		for _, p := range item.Get.parameters() {
			target := strings.NewReplacer("{trace_id}", kept).Replace(path) + "?" + p + "=%22"
			w := f.get(target)
			assert.NotContains(t, w.Body.String(), "is not known", target)
		}
	}
	assert.ElementsMatch(t, []string{
		"outcome", "tool", "class", "service", "agent", "conversation_id", "since", "until", "limit", "cursor",
	}, describe(t).Paths["/v1/tapes"].Get.parameters())
	assert.ElementsMatch(t, []string{"bodies", "bare"}, describe(t).Paths["/v1/tapes/{trace_id}"].Get.parameters())
}

// parameters are those of the query that belong to the operation alone.
func (o *operation) parameters() (names []string) {
	if o == nil {
		return nil
	}
	for _, p := range o.Parameters {
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	return names
}

func TestTheDescriptionHasTheCodesAndTheRow(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	require.NoError(t, err)
	var codes []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "code") && len(spec.Values) == 1 {
			code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			codes = append(codes, code)
		}
		return true
	})
	require.NotEmpty(t, codes)
	slices.Sort(codes)
	schemas := describe(t).Components.Schemas
	assert.Equal(t, codes, schemas["Error"].Properties["error"].Properties["code"].Enum)

	var members, described []string
	row := reflect.TypeFor[tape.Row]()
	for i := range row.NumField() {
		name, _, _ := strings.Cut(row.Field(i).Tag.Get("json"), ",")
		members = append(members, name)
	}
	for name := range schemas["Row"].Properties {
		described = append(described, name)
	}
	assert.ElementsMatch(t, members, described)
}
