package kubernetes

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/yaml"
)

// What kustomize and the chart render is the same, but for what either adds to tell
// its own objects: suffixes of names here, labels and checksums there.
func TestKustomizeAndTheChartAgree(t *testing.T) {
	for _, c := range []struct{ name, dir, values string }{
		{"base", base, ""},
		{"s3-server", s3Server, readFile(t, s3Values)},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours, theirs := normal(t, kustomize(t, c.dir)), normal(t, helm(t, c.values))
			assert.Equal(t, slices.Sorted(maps.Keys(ours)), slices.Sorted(maps.Keys(theirs)))
			for name, text := range ours {
				assert.Equal(t, text, theirs[name], name)
			}
		})
	}
}

// suffix is what kustomize appends to the name of a generated ConfigMap.
var suffix = regexp.MustCompile(`^(tapedeck(?:-gateway|-store)?)-[a-z0-9]{10}$`)

// normal gives objects as YAML by kind and name, without what only one of them adds.
func normal(t *testing.T, objects manifests) map[string]string {
	t.Helper()
	byName := map[string]string{}
	for _, object := range objects {
		o := strip(object.Object).(map[string]any)
		if object.GetKind() == "ConfigMap" {
			delete(at(o, "metadata"), "labels")
		}
		text, err := yaml.Marshal(o)
		assert.NoError(t, err)
		name := suffix.ReplaceAllString(object.GetName(), "$1")
		byName[object.GetKind()+" "+name] = string(text)
	}
	return byName
}

var added = []string{
	"app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart", "checksum/config",
}

// strip copies a value without additions, empty maps and namespaces.
func strip(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, member := range v {
			member = strip(member)
			if m, ok := member.(map[string]any); ok && len(m) == 0 && key == "annotations" {
				continue
			}
			if key == "namespace" || slices.Contains(added, key) {
				continue
			}
			out[key] = member
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, element := range v {
			out = append(out, strip(element))
		}
		return out
	case string:
		return suffix.ReplaceAllString(v, "$1")
	case float64: // as YAML has numbers, where JSON has int64
		return int64(v)
	}
	return value
}
