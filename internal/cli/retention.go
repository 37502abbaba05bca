package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/retention"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/s3"
)

func (a *app) retentionCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retention",
		Short: "Show or remove what a store need not keep any longer",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return notAVerb("retention " + args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.retentionPlanCmd(), a.retentionApplyCmd())
	return cmd
}

const policyHelp = `
The policy is that of --config, a YAML file with a section retention, or the
configuration of a collector with one extension tape_store. Without it the policies
count that collectors have noted in the store. A policy must stand for its grace
period before anything goes by it.`

func (a *app) retentionPlanCmd() *cobra.Command {
	var config string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what would go from a store now, and why",
		Long:  "Show what a sweep of the store would remove now, when it was stored and why it goes.\nNothing is changed." + policyHelp,
		Args:  args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, _, done, err := a.sweeper(config)
			if err != nil {
				return err
			}
			defer done()
			out := a.retentionReport(asJSON)
			report, err := s.Plan(cmd.Context(), out.item, out.finding)
			if err != nil {
				return retentionError(err)
			}
			return out.end("would go", report, "", nil)
		},
	}
	configFlag(cmd, &config)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) retentionApplyCmd() *cobra.Command {
	var config string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Remove from a store what need not be kept any longer",
		Long: `Note the policy in the store, and remove what tape retention plan shows. In a bucket
it also writes lifecycle rules of the same policy, beside those of others, so that the
bucket goes on by itself; where it has no such rules, that is said, and the sweeps of
collectors and of this command remain.` + policyHelp,
		Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, bucket, done, err := a.sweeper(config)
			if err != nil {
				return err
			}
			defer done()
			out := a.retentionReport(asJSON)
			s.Removed, s.Found = out.item, out.finding
			s.Failed = func(i retention.Item, err error) { a.note("%s stays: %v", i.Name, err) }
			report, sweepErr := s.Sweep(cmd.Context())
			if errors.Is(sweepErr, retention.ErrNoPolicy) {
				return retentionError(sweepErr)
			}
			said, rules, err := lifecycleRules(cmd.Context(), s, bucket)
			if sweepErr != nil {
				err = errors.Join(retentionError(sweepErr), err)
			}
			return errors.Join(out.end("went", report, said, rules), err)
		},
	}
	configFlag(cmd, &config)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func configFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "config", "", "YAML file with the section retention, or configuration of a collector")
}

func retentionError(err error) error {
	if errors.Is(err, retention.ErrNoPolicy) {
		return usage("%w: name one with --config", err)
	}
	return missing("%w", err)
}

// sweeper opens the store of --store. The bucket is nil for a directory.
func (a *app) sweeper(config string) (s *retention.Sweeper, bucket *s3.Backend, done func(), err error) {
	if a.store == "" {
		return nil, nil, nil, usage("retention works on a store itself: name it with --store")
	}
	if a.tenant != "" {
		return nil, nil, nil, usage("retention is that of a whole store: it takes no --tenant")
	}
	var policy *retention.Policy
	if config != "" {
		c, err := readRetention(config)
		if err != nil {
			return nil, nil, nil, err
		}
		if c.HasBounds() && strings.Contains(a.store, "://") {
			return nil, nil, nil, usage("%s: max_bytes is for a store in a directory: a bucket has no end", config)
		}
		policy = c.Policy()
	}
	backend, err := a.backend()
	if err != nil {
		return nil, nil, nil, err
	}
	st, err := store.Open(backend, store.Options{
		OnDamaged: func(name string, err error) { a.note("%s: %s: %v", a.store, name, err) },
	})
	if err != nil {
		return nil, nil, nil, missing("--store: %w", err)
	}
	s = &retention.Sweeper{Store: st, Policy: policy}
	s.Leftovers, _ = backend.(retention.Leftovers)
	bucket, _ = backend.(*s3.Backend)
	return s, bucket, st.Close, nil
}

// lifecycleRules writes the rules of a bucket, and says what came of it.
func lifecycleRules(ctx context.Context, s *retention.Sweeper, bucket *s3.Backend) (said string, rules []retention.BucketRule, err error) {
	if bucket == nil {
		return "a directory has no lifecycle rules: the sweeps of collectors and of this command remain", nil, nil
	}
	rules, err = s.BucketRules(ctx)
	var notYet *retention.NotYetError
	if errors.As(err, &notYet) {
		return "no lifecycle rules were written, as nothing goes yet: apply again then", nil, nil
	}
	if err != nil {
		return "", nil, missing("%w", err)
	}
	list := make([]s3.LifecycleRule, len(rules))
	for i, r := range rules {
		list[i] = s3.LifecycleRule(r)
	}
	foreign, err := bucket.SetLifecycle(ctx, list)
	switch {
	case errors.Is(err, s3.ErrNoLifecycle):
		return fmt.Sprintf("%v: the sweeps of collectors and of this command remain", err), nil, nil
	case err != nil:
		return "", nil, missing("lifecycle rules of %s: %w", bucket, err)
	}
	return fmt.Sprintf("%s written, %s of others left as they were", count(len(list), "lifecycle rule"), count(foreign, "rule")), rules, nil
}
