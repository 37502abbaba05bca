package kubernetes

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAnAPIServerTakesEveryObject(t *testing.T) {
	for name, objects := range renders(t) {
		t.Run(name, func(t *testing.T) {
			require.NotEmpty(t, objects)
			for _, object := range objects {
				if object.GetKind() == "PodMonitor" {
					continue // of an operator, whose schema is not Kubernetes'
				}
				assert.NoError(t, create(object), "%s %s", object.GetKind(), object.GetName())
			}
		})
	}
}

// What passes for valid must be able to be invalid.
func TestAnAPIServerRefuses(t *testing.T) {
	objects := kustomize(t, base)
	for name, c := range map[string]struct {
		kind, object string
		change       func(o map[string]any)
		says         string
	}{
		"a field that does not exist": {"StatefulSet", "tapedeck", func(o map[string]any) {
			at(o, "spec", "template", "spec")["restartpolicy"] = "Always"
		}, `unknown field "spec.template.spec.restartpolicy"`},
		"a value of another type": {"Deployment", "tapedeck-gateway", func(o map[string]any) {
			at(o, "spec")["minReadySeconds"] = "soon"
		}, "minReadySeconds"},
		"a selector that does not match": {"StatefulSet", "tapedeck", func(o map[string]any) {
			at(o, "spec", "selector", "matchLabels")["app.kubernetes.io/component"] = "gateway"
		}, "selector"},
		"a bound without a number": {"PodDisruptionBudget", "tapedeck", func(o map[string]any) {
			at(o, "spec")["maxUnavailable"] = "one"
		}, "maxUnavailable"},
		"a service without ports": {"Service", "tapedeck-gateway", func(o map[string]any) {
			delete(at(o, "spec"), "ports")
		}, "ports"},
		"more replicas at least than at most": {"HorizontalPodAutoscaler", "tapedeck-gateway", func(o map[string]any) {
			at(o, "spec")["minReplicas"] = int64(11)
		}, "maxReplicas"},
	} {
		t.Run(name, func(t *testing.T) {
			object := objects.get(t, c.kind, c.object).DeepCopy()
			c.change(object.Object)
			assert.ErrorContains(t, create(object), c.says)
		})
	}
}

func TestTheChartPassesLint(t *testing.T) {
	lint := action.NewLint()
	lint.Strict, lint.Namespace = true, namespace
	result := lint.Run([]string{chartDir}, nil)
	for _, m := range result.Messages {
		// An icon is the only thing that it misses.
		assert.True(t, m.Severity <= support.InfoSev, "%s", m)
	}
	assert.Empty(t, result.Errors)
}

func TestValuesOfAnotherShapeAreRefused(t *testing.T) {
	for name, values := range map[string]string{
		"a setting that does not exist":   "recorder: {replica: 3}",
		"no recorder":                     "recorder: {replicas: 0}",
		"a size in another unit":          "recorder: {volume: {size: 10GB}}",
		"a size in letters":               "recorder: {volume: {size: large}}",
		"no limit of memory":              "gateway: {resources: {limits: {memory: null}}}",
		"no bucket":                       `store: {bucket: ""}`,
		"a port that is none":             "store: {ports: [70000]}",
		"no port":                         "store: {ports: []}",
		"a moving tag":                    "recorder: {image: {tag: latest}}",
		"no tag":                          `gateway: {image: {tag: ""}}`,
		"a type of service that is none":  "gateway: {service: {type: Internal}}",
		"an annotation that is no string": "recorder: {serviceAccount: {annotations: {a: 1}}}",
		"a name that is none":             "fullnameOverride: Tape_Deck",
		"a word for a boolean":            "api: {enabled: maybe}",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := template(loadChart(t), values)
			assert.ErrorContains(t, err, "values don't meet the specifications of the schema")
		})
	}
}

// get finds the one object of a kind and name.
func (m manifests) get(t *testing.T, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range m {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	require.Failf(t, "no such object", "%s %s", kind, name)
	return nil
}

// as reads an object into its type.
func as[T any](t *testing.T, object *unstructured.Unstructured) (typed T) {
	t.Helper()
	text, err := json.Marshal(object.Object)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &typed))
	return typed
}

// at walks into nested maps.
func at(o map[string]any, path ...string) map[string]any {
	for _, name := range path {
		o = o[name].(map[string]any)
	}
	return o
}
