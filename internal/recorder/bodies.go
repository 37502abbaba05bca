package recorder

import (
	"context"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/offload"
)

// moveBodies sends large bodies to the store. One that the store does not take
// stays where it is. Without a store nothing moves, but values that only look
// like references are escaped all the same.
func (r *Recorder) moveBodies(ctx context.Context, td ptrace.Traces, v *verdict) error {
	threshold := r.cfg.OffloadThreshold
	if r.deps.Bodies == nil {
		threshold = 0
	}
	now := r.deps.Now()
	r.eachTenant(td, func(tenant string, td ptrace.Traces) {
		// Spans with several texts that repeat others still fit into a request.
		stats, _ := offload.TracesOfRun(td, threshold, r.cfg.MaxRequestBytes/4, func(b offload.Body) error {
			return r.deps.Bodies.PutBody(ctx, tenant, v.row.Class, now, b)
		})
		v.offloaded.Bodies += stats.Bodies
		v.offloaded.Bytes += stats.Bytes
		v.offloaded.Escaped += stats.Escaped
		v.offloaded.Failed += stats.Failed
	})
	return ctx.Err()
}

// eachTenant calls fn with the spans of each tenant by themselves: a body that two
// of them have is stored for both. Nearly always there is one.
func (r *Recorder) eachTenant(td ptrace.Traces, fn func(string, ptrace.Traces)) {
	all := td.ResourceSpans()
	var tenants []string
	places := map[string][]int{}
	for i, rs := range all.All() {
		tenant := r.deps.Translation.Tenant(rs.Resource())
		if _, ok := places[tenant]; !ok {
			tenants = append(tenants, tenant)
		}
		places[tenant] = append(places[tenant], i)
	}
	if len(tenants) <= 1 {
		for _, tenant := range tenants {
			fn(tenant, td)
		}
		return
	}
	for _, tenant := range tenants {
		part := ptrace.NewTraces()
		for _, i := range places[tenant] {
			all.At(i).MoveTo(part.ResourceSpans().AppendEmpty())
		}
		fn(tenant, part)
		for j, i := range places[tenant] {
			part.ResourceSpans().At(j).MoveTo(all.At(i))
		}
	}
}

// ofTenant sees to it that a summary, which has not all attributes of the head's
// resource, has the one that says whose it is.
func (r *Recorder) ofTenant(td, summary ptrace.Traces) ptrace.Traces {
	cfg := r.deps.Translation.Config
	if cfg == nil || cfg.TenantAttribute == "" {
		return summary
	}
	if tenant := r.deps.Translation.Tenant(findHead(td).rs.Resource()); tenant != "" {
		summary.ResourceSpans().At(0).Resource().Attributes().PutStr(cfg.TenantAttribute, tenant)
	}
	return summary
}
