package cli

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/internal/retention"
)

// retentionReport shows items a line each as they come, or collects them for JSON. It
// may be told of several at a time.
type retentionReport struct {
	a  *app
	mu sync.Mutex
	// collect: all of it is one JSON document at the end.
	collect  bool
	items    []retention.Item
	findings []retention.Finding
	failed   error
}

func (a *app) retentionReport(asJSON bool) *retentionReport {
	return &retentionReport{a: a, collect: asJSON, items: []retention.Item{}, findings: []retention.Finding{}}
}

func (r *retentionReport) item(i retention.Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.collect {
		r.items = append(r.items, i)
		return
	}
	name := i.Name
	if i.Tenant != "" {
		name = "tenant " + i.Tenant + ": " + name
	}
	_, err := fmt.Fprintf(r.a.Out, "%-8s  %s  %s  %s\n", i.Kind, i.Stored.UTC().Format(time.DateTime), clean(name), clean(i.Reason))
	if r.failed == nil {
		r.failed = err
	}
}

func (r *retentionReport) finding(f retention.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.collect {
		r.findings = append(r.findings, f)
		return
	}
	if f.Tenant != "" {
		f.Text = "tenant " + f.Tenant + ": " + f.Text
	}
	r.a.note("%s", f.Text)
}

// end says what it came to. What is said of the bucket is "" for a plan.
func (r *retentionReport) end(verb string, report retention.Report, bucket string, rules []retention.BucketRule) error {
	if r.collect {
		enc := json.NewEncoder(r.a.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			retention.Report
			List     []retention.Item       `json:"list"`
			Findings []retention.Finding    `json:"findings"`
			Bucket   string                 `json:"bucket,omitempty"`
			Rules    []retention.BucketRule `json:"bucket_rules,omitempty"`
		}{report, r.items, r.findings, bucket, rules})
	}
	if !report.Waits.IsZero() {
		r.a.note("no policy has stood for its grace period yet: nothing goes before %s", report.Waits.UTC().Format(time.RFC3339))
	}
	r.a.note("%s, %s, %s and %s %s: %d bytes",
		count(report.Items[retention.KindTape], "tape"), count(report.Items[retention.KindBlob], "blob"),
		count(report.Items[retention.KindRows], "row"), count(report.Items[retention.KindLeftover], "leftover"), verb, report.Bytes)
	if bucket != "" {
		r.a.note("%s", bucket)
	}
	return r.failed
}
