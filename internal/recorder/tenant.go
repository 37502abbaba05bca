package recorder

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Of reports whether the spool has spans or log records of a run that are the
// tenant's; "" stands for those of no tenant. Where tenants are told apart it reads
// what the spool has of the run: it is for those who ask about one run. The error is
// that of a context that ends while somebody else has the run.
func (r *Recorder) Of(ctx context.Context, tenant string, id pcommon.TraceID) (bool, error) {
	if cfg := r.deps.Translation.Config; cfg == nil || cfg.TenantAttribute == "" {
		return tenant == "", nil
	}
	rn, err := r.own(ctx, ID(id))
	if err != nil || rn == nil {
		return false, err
	}
	defer r.release(rn)
	p := r.load(rn)
	for _, rs := range p.td.ResourceSpans().All() {
		if r.deps.Translation.Tenant(rs.Resource()) == tenant {
			return true, nil
		}
	}
	for _, rl := range p.ld.ResourceLogs().All() {
		if r.deps.Translation.Tenant(rl.Resource()) == tenant {
			return true, nil
		}
	}
	return false, nil
}
