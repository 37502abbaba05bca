package retention

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/tape"
)

func TestAClassThePolicyNoLongerHasFallsUnderTheDefault(t *testing.T) {
	w := newWorld(t)
	w.config.Rules = []Rule{{Class: Class{Name: "shop", Keep: Forever}, Outcome: []string{"failed"}}}
	run := w.run(1, tape.OutcomeFailed)
	w.stand()
	w.config.Rules = []Rule{}
	w.config.Default.Keep = Keep(10 * day)
	w.stand()
	_, findings, _ := w.plan()
	require.Len(t, findings, 1)
	assert.Equal(t, "shop", findings[0].Class)
	assert.Contains(t, findings[0].Text, "the policy has no class shop")
	assert.True(t, w.plays(run))
	w.wait(10 * day)
	items := w.sweep()
	assert.Contains(t, items[0].Reason, "its own is not configured")
	assert.False(t, w.plays(run))
}

func TestNothingGoesByAPolicyThatHasNotStood(t *testing.T) {
	w := newWorld(t)
	run := w.run(1, tape.OutcomeFailed)
	w.wait(100 * day)
	items, _, report := w.plan()
	assert.Empty(t, items)
	assert.Equal(t, w.now.Add(w.config.Grace), report.Waits)
	assert.Empty(t, w.below("retention/"), "a plan writes nothing")
	assert.Empty(t, w.sweep())
	w.wait(w.config.Grace - time.Hour)
	assert.Empty(t, w.sweep())
	w.wait(time.Hour)
	assert.NotEmpty(t, w.sweep())
	assert.False(t, w.plays(run))
}

func TestAMistypedRuleCanBeMended(t *testing.T) {
	w := newWorld(t)
	w.stand()
	run := w.run(1, tape.OutcomeFailed)
	w.wait(5 * day)
	good := w.config
	w.config.Rules = []Rule{{Class: Class{Name: ClassFailures, Keep: Keep(3 * time.Hour)}, Outcome: []string{"failed"}}}
	assert.Empty(t, w.sweep())
	w.wait(2 * day)
	assert.Empty(t, w.sweep())
	w.config = good
	w.wait(2 * day)
	assert.Empty(t, w.sweep())
	w.wait(2 * day)
	assert.Empty(t, w.sweep())
	assert.True(t, w.plays(run))
}

// What is removed is judged by the setting at that time, not by the one when it
// became old.
func TestTheSettingAtDeletionCounts(t *testing.T) {
	w := newWorld(t)
	w.stand()
	run := w.run(1, tape.OutcomeFailed)
	w.wait(31 * day)
	items, _, _ := w.plan()
	require.NotEmpty(t, items)
	w.config.Rules = []Rule{{Class: Class{Name: ClassFailures, Keep: Keep(90 * day)}, Outcome: []string{"failed"}}}
	assert.Empty(t, w.sweep())
	assert.True(t, w.plays(run))
}

func TestCollectorsOfDifferentPoliciesDoNotFight(t *testing.T) {
	w := newWorld(t)
	short, long := w.config, w.config
	short.Default.Keep, long.Default.Keep = Keep(5*day), Keep(20*day)
	run := w.run(1, tape.OutcomeSucceeded)
	for range 19 {
		for _, c := range []Config{short, long} {
			w.config = c
			assert.Empty(t, w.sweep())
		}
		w.wait(day)
	}
	assert.True(t, w.plays(run))
	assert.LessOrEqual(t, len(w.below("retention/policies/")), 10, "notes that say nothing any more go")
	w.wait(day)
	w.sweep()
	assert.False(t, w.plays(run))
}
