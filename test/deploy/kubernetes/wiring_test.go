package kubernetes

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// workload is what runs pods.
type workload struct {
	name     string
	template corev1.PodTemplateSpec
	claims   []corev1.PersistentVolumeClaim
}

func (w workload) container() corev1.Container { return w.template.Spec.Containers[0] }

func (w workload) port(name string) (number int32, ok bool) {
	for _, p := range w.container().Ports {
		if p.Name == name {
			return p.ContainerPort, true
		}
	}
	return 0, false
}

func (w workload) env(name string) string {
	for _, e := range w.container().Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// workloads are the gateway and the recorder, in this order.
func (m manifests) workloads(t *testing.T) (gateway, recorder workload) {
	t.Helper()
	for _, object := range m {
		switch object.GetKind() {
		case "Deployment":
			d := as[appsv1.Deployment](t, object)
			gateway = workload{d.Name, d.Spec.Template, nil}
		case "StatefulSet":
			s := as[appsv1.StatefulSet](t, object)
			recorder = workload{s.Name, s.Spec.Template, s.Spec.VolumeClaimTemplates}
		}
	}
	require.NotEmpty(t, gateway.name)
	require.NotEmpty(t, recorder.name)
	return gateway, recorder
}

func (m manifests) eachWorkload(t *testing.T, check func(t *testing.T, w workload)) {
	t.Helper()
	gateway, recorder := m.workloads(t)
	t.Run("gateway", func(t *testing.T) { check(t, gateway) })
	t.Run("recorder", func(t *testing.T) { check(t, recorder) })
}

// selected is the one workload that a selector means.
func (m manifests) selected(t *testing.T, selector map[string]string) workload {
	t.Helper()
	require.NotEmpty(t, selector)
	gateway, recorder := m.workloads(t)
	var found []workload
	for _, w := range []workload{gateway, recorder} {
		if labels.SelectorFromSet(selector).Matches(labels.Set(w.template.Labels)) {
			found = append(found, w)
		}
	}
	require.Len(t, found, 1, "%v", selector)
	return found[0]
}

func everyRender(t *testing.T, check func(t *testing.T, m manifests)) {
	t.Helper()
	for name, m := range renders(t) {
		t.Run(name, func(t *testing.T) { check(t, m) })
	}
}

// The level `restricted` of the pod security standards: no root, no privileges, no
// capabilities, the runtime's seccomp profile, no volumes of the host.
func TestPodsAreRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	everyRender(t, func(t *testing.T, m manifests) {
		m.eachWorkload(t, func(t *testing.T, w workload) {
			for _, result := range evaluator.EvaluatePod(level, &w.template.ObjectMeta, &w.template.Spec) {
				assert.True(t, result.Allowed, "%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
			}
			assert.True(t, *w.container().SecurityContext.ReadOnlyRootFilesystem)
			assert.Positive(t, *w.template.Spec.SecurityContext.RunAsUser)
		})
	})
}

func TestImagesArePinned(t *testing.T) {
	pinned := regexp.MustCompile(`:v?\d+\.\d+\.\d+[-.\w]*$|@sha256:[0-9a-f]{64}$`)
	everyRender(t, func(t *testing.T, m manifests) {
		m.eachWorkload(t, func(t *testing.T, w workload) {
			require.Len(t, w.template.Spec.Containers, 1)
			assert.Regexp(t, pinned, w.container().Image)
		})
	})
}

func TestServicesLeadToPortsOfPods(t *testing.T) {
	everyRender(t, func(t *testing.T, m manifests) {
		for _, object := range m {
			if object.GetKind() != "Service" {
				continue
			}
			s := as[corev1.Service](t, object)
			w := m.selected(t, s.Spec.Selector)
			for _, p := range s.Spec.Ports {
				number, ok := w.port(p.TargetPort.StrVal)
				assert.True(t, ok, "%s: %s is no port of %s", s.Name, p.TargetPort.String(), w.name)
				assert.Equal(t, p.Port, number, "%s %s: a port has one number everywhere", s.Name, p.Name)
			}
		}
	})
}

func TestTheStatefulSetHasItsHeadlessService(t *testing.T) {
	everyRender(t, func(t *testing.T, m manifests) {
		gateway, recorder := m.workloads(t)
		set := as[appsv1.StatefulSet](t, m.get(t, "StatefulSet", recorder.name))
		s := as[corev1.Service](t, m.get(t, "Service", set.Spec.ServiceName))
		assert.Equal(t, corev1.ClusterIPNone, s.Spec.ClusterIP)
		assert.Equal(t, recorder.name, m.selected(t, s.Spec.Selector).name)
		for label, value := range s.Spec.Selector {
			if set.Spec.Selector.MatchLabels[label] != value {
				assert.Equal(t, "tapedeck-takes-runs", label, "the only label by which a pod of the set is taken out")
			}
		}
		assert.Contains(t, s.Spec.Selector, "tapedeck-takes-runs")
		assert.NotContains(t, set.Spec.Selector.MatchLabels, "tapedeck-takes-runs")
		assert.Equal(t, s.Name+".$(POD_NAMESPACE)", gateway.env("RECORDERS"), "gateways ask for that service")
		names := map[string]int{}
		for i, e := range gateway.container().Env {
			names[e.Name] = i
		}
		assert.Less(t, names["POD_NAMESPACE"], names["RECORDERS"], "a variable is known to those after it")
	})
}

func TestBudgetsAndScalersMeanTheirWorkload(t *testing.T) {
	everyRender(t, func(t *testing.T, m manifests) {
		budgets := 0
		for _, object := range m {
			switch object.GetKind() {
			case "PodDisruptionBudget":
				budgets++
				b := as[policyv1.PodDisruptionBudget](t, object)
				assert.Equal(t, b.Name, m.selected(t, b.Spec.Selector.MatchLabels).name)
			case "HorizontalPodAutoscaler":
				target := at(object.Object, "spec", "scaleTargetRef")
				d := m.get(t, target["kind"].(string), target["name"].(string))
				assert.NotContains(t, at(d.Object, "spec"), "replicas", "who scales says how many")
				gateway, _ := m.workloads(t)
				requests := gateway.container().Resources.Requests
				assert.Positive(t, requests.Cpu().MilliValue(), "utilization is of what is requested")
			}
		}
		assert.Equal(t, 2, budgets)
	})
}

func TestNetworkPoliciesNamePortsThatThereAre(t *testing.T) {
	everyRender(t, func(t *testing.T, m manifests) {
		gateway, recorder := m.workloads(t)
		for _, object := range m {
			if object.GetKind() != "NetworkPolicy" {
				continue
			}
			p := as[networkingv1.NetworkPolicy](t, object)
			w := m.selected(t, p.Spec.PodSelector.MatchLabels)
			open := map[string]bool{}
			for _, rule := range p.Spec.Ingress {
				for _, port := range rule.Ports {
					open[port.Port.StrVal] = true
				}
			}
			for _, port := range w.container().Ports {
				assert.True(t, open[port.Name], "%s: %s is closed", p.Name, port.Name)
				delete(open, port.Name)
			}
			assert.Empty(t, open, "%s opens ports that nobody has", p.Name)
			if w.name == gateway.name {
				assert.True(t, reaches(p, recorder), "gateways must reach recorders")
				continue
			}
			for _, rule := range p.Spec.Ingress {
				if rule.Ports[0].Port.StrVal == "otlp-grpc" {
					assert.Equal(t, gateway.name, m.selected(t, rule.From[0].PodSelector.MatchLabels).name)
				}
			}
		}
	})
}

func reaches(p networkingv1.NetworkPolicy, w workload) bool {
	return slices.ContainsFunc(p.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
		return len(rule.To) == 1 && len(rule.Ports) == 1 && rule.Ports[0].Port.StrVal == "otlp-grpc" &&
			labels.SelectorFromSet(rule.To[0].PodSelector.MatchLabels).Matches(labels.Set(w.template.Labels))
	})
}

func TestWhatPodsNameIsThere(t *testing.T) {
	everyRender(t, func(t *testing.T, m manifests) {
		m.eachWorkload(t, func(t *testing.T, w workload) {
			m.get(t, "ServiceAccount", w.template.Spec.ServiceAccountName)
			volumes := map[string]corev1.Volume{}
			for _, v := range w.template.Spec.Volumes {
				volumes[v.Name] = v
			}
			for _, c := range w.claims {
				volumes[c.Name] = corev1.Volume{}
			}
			files := map[string]bool{}
			for _, mount := range w.container().VolumeMounts {
				require.Contains(t, volumes, mount.Name)
				if source := volumes[mount.Name].ConfigMap; source != nil {
					for name := range at(m.get(t, "ConfigMap", source.Name).Object, "data") {
						files["--config="+path.Join(mount.MountPath, name)] = true
					}
				}
				delete(volumes, mount.Name)
			}
			assert.Empty(t, volumes, "mounted nowhere")
			assert.ElementsMatch(t, slices.Collect(maps.Keys(files)), w.container().Args, "every file of the configuration is read")
			for _, from := range w.container().EnvFrom {
				if from.ConfigMapRef != nil {
					m.get(t, "ConfigMap", from.ConfigMapRef.Name)
				}
			}
			for _, probe := range []*corev1.Probe{w.container().StartupProbe, w.container().ReadinessProbe, w.container().LivenessProbe} {
				if probe != nil {
					assert.Equal(t, intstr.FromString("health"), probe.HTTPGet.Port)
				}
			}
			assert.NotNil(t, w.container().ReadinessProbe)
			assert.NotNil(t, w.container().LivenessProbe)
		})
	})
}

// A gateway that may not watch recorders finds none.
func TestGatewaysMayAskForRecorders(t *testing.T) {
	everyRender(t, func(t *testing.T, m manifests) {
		gateway, _ := m.workloads(t)
		binding := as[rbacv1.RoleBinding](t, m.get(t, "RoleBinding", gateway.name))
		role := as[rbacv1.Role](t, m.get(t, "Role", binding.RoleRef.Name))
		assert.Equal(t, []rbacv1.PolicyRule{{
			APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: []string{"get", "list", "watch"},
		}}, role.Rules)
		account := m.get(t, "ServiceAccount", gateway.template.Spec.ServiceAccountName)
		in := m.get(t, "Deployment", gateway.name).GetNamespace()
		if in == "" {
			in = namespace // the chart leaves it to the release
		}
		assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.GetName(), Namespace: in}}, binding.Subjects)
	})
}

// Claims keep their owner: the user of the pod is that of the image.
func TestRecordersRunAsTheirImageDoes(t *testing.T) {
	image := readFile(t, root+"/../container/Containerfile")
	everyRender(t, func(t *testing.T, m manifests) {
		_, recorder := m.workloads(t)
		user := strconv.FormatInt(*recorder.template.Spec.SecurityContext.RunAsUser, 10)
		assert.Contains(t, image, "USER "+user+":"+user)
		assert.Contains(t, image, `ENTRYPOINT ["/usr/bin/otelcol-tape"]`, "arguments alone are given")
	})
}

func TestMemoryAndVolumeHaveRoomLeft(t *testing.T) {
	everyRender(t, func(t *testing.T, m manifests) {
		m.eachWorkload(t, func(t *testing.T, w workload) {
			limits := w.container().Resources.Limits
			limit := limits.Memory().Value()
			goal, err := strconv.ParseInt(strings.TrimSuffix(w.env("GOMEMLIMIT"), "MiB"), 10, 64)
			require.NoError(t, err)
			assert.Equal(t, limit*8/10>>20, goal, "GOMEMLIMIT is 80 %% of %d", limit)
		})
		_, recorder := m.workloads(t)
		require.Len(t, recorder.claims, 1)
		requests := recorder.claims[0].Spec.Resources.Requests
		size := requests.Storage().Value()
		assert.Equal(t, strconv.FormatInt(size*8/10, 10), recorder.env("SPOOL_BYTES"))
	})
}

func TestPodMonitorsFindTheMetrics(t *testing.T) {
	found := 0
	m := helm(t, readFile(t, "testdata/everything.yaml"))
	for _, object := range m {
		if object.GetKind() != "PodMonitor" {
			continue
		}
		found++
		monitor := as[struct {
			Spec struct {
				Selector            struct{ MatchLabels map[string]string }
				PodMetricsEndpoints []struct{ Port, Interval string }
			}
		}](t, object)
		w := m.selected(t, monitor.Spec.Selector.MatchLabels)
		require.Len(t, monitor.Spec.PodMetricsEndpoints, 1)
		_, ok := w.port(monitor.Spec.PodMetricsEndpoints[0].Port)
		assert.True(t, ok)
		assert.Equal(t, "prometheus", object.GetLabels()["release"])
	}
	assert.Equal(t, 2, found)
}
