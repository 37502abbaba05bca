package dialect

import "go.opentelemetry.io/collector/pdata/pcommon"

// Tenant is the tenant of what has that resource, "" when none is named or none is
// asked for. Whatever the value is, it is told apart by its text.
func (o *Options) Tenant(resource pcommon.Resource) string {
	name := o.config().TenantAttribute
	if name == "" {
		return ""
	}
	return attrFirst(resource, name)
}
