package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
)

// strategies are what an API server creates objects by: they hold its validation.
var strategies = map[string]rest.RESTCreateStrategy{
	"ConfigMap":               configmap.Strategy,
	"Deployment":              deployment.Strategy,
	"HorizontalPodAutoscaler": horizontalpodautoscaler.Strategy,
	"NetworkPolicy":           networkpolicy.Strategy,
	"Pod":                     pod.Strategy,
	"PodDisruptionBudget":     poddisruptionbudget.Strategy,
	"Role":                    role.Strategy,
	"RoleBinding":             rolebinding.Strategy,
	"Service":                 service.Strategy,
	"ServiceAccount":          serviceaccount.Strategy,
	"StatefulSet":             statefulset.Strategy,
}

var strict = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDecoder()

// create does what an API server does with an object before it is stored: it decodes
// it, refusing what it does not know, sets defaults and validates.
func create(object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	strategy, ok := strategies[kind.Kind]
	if !ok {
		return fmt.Errorf("no validation for %s", kind)
	}
	text, err := json.Marshal(object.Object)
	if err != nil {
		return err
	}
	internal, _, err := strict.Decode(text, nil, nil)
	if err != nil {
		return err
	}
	accessor, err := meta.Accessor(internal)
	if err != nil {
		return err
	}
	accessor.SetNamespace(namespace)
	rest.FillObjectMetaSystemFields(accessor)
	if s, ok := internal.(*core.Service); ok && s.Spec.ClusterIP != "" {
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP} // as the storage of services does first
	}
	ctx := request.WithRequestInfo(request.WithNamespace(context.Background(), namespace), &request.RequestInfo{
		APIGroup: kind.Group, APIVersion: kind.Version, Resource: strings.ToLower(kind.Kind) + "s",
		Namespace: namespace, Verb: "create", IsResourceRequest: true,
	})
	return rest.BeforeCreate(strategy, ctx, internal)
}
