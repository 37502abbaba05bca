package kubernetes

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const (
	root      = "../../../deploy/kubernetes"
	chartDir  = root + "/chart"
	base      = root + "/base"
	s3Server  = root + "/overlays/s3-server"
	s3Values  = chartDir + "/ci/s3-server-values.yaml"
	release   = "tapedeck"
	namespace = "tapedeck"
)

// manifests are rendered objects.
type manifests []*unstructured.Unstructured

// kustomize renders a directory as `kubectl kustomize` does.
func kustomize(t *testing.T, dir string) manifests {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	require.NoError(t, err)
	text, err := resources.AsYaml()
	require.NoError(t, err)
	return parse(t, string(text))
}

// helm renders the chart with values in YAML, as `helm install tapedeck` does.
func helm(t *testing.T, values string) manifests {
	t.Helper()
	objects, err := template(loadChart(t), values)
	require.NoError(t, err)
	return parse(t, objects)
}

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(chartDir)
	require.NoError(t, err)
	return c
}

func template(c *chart.Chart, text string) (string, error) {
	values, err := chartutil.ReadValues([]byte(text))
	if err != nil {
		return "", err
	}
	caps := chartutil.DefaultCapabilities.Copy()
	options := chartutil.ReleaseOptions{Name: release, Namespace: namespace, IsInstall: true}
	rendered, err := chartutil.ToRenderValues(c, values, options, caps)
	if err != nil {
		return "", err
	}
	files, err := engine.Engine{Strict: true}.Render(c, rendered)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for name, text := range files {
		if filepath.Ext(name) == ".yaml" {
			all.WriteString("\n---\n" + text)
		}
	}
	return all.String(), nil
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func parse(t *testing.T, text string) (objects manifests) {
	t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		require.NoError(t, err, text)
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// renders are all ways to render that the tests look at.
func renders(t *testing.T) map[string]manifests {
	t.Helper()
	return map[string]manifests{
		"kustomize base":              kustomize(t, base),
		"kustomize overlay s3-server": kustomize(t, s3Server),
		"kustomize in a namespace":    kustomize(t, "testdata/install"),
		"chart":                       helm(t, ""),
		"chart with s3-server-values": helm(t, readFile(t, s3Values)),
		"chart with everything":       helm(t, readFile(t, "testdata/everything.yaml")),
		"chart with nothing":          helm(t, readFile(t, "testdata/nothing.yaml")),
	}
}
