package spool

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// seeds is for long runs by hand.
var seeds = flag.Uint64("seeds", 8, "how many random histories each test runs")

func TestRandomOperationsMatchTheModelAcrossRestarts(t *testing.T) {
	for seed := range *seeds / 2 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, seed)
			for range 12 {
				require.NoError(t, m.open())
				m.check()
				for range 150 {
					m.do()
				}
				m.read(m.some(1 << 20))
				m.check()
				if m.rnd.IntN(2) == 0 {
					require.NoError(t, m.s.Close())
				}
			}
		})
	}
}

func TestKillAtAnyStepLosesNothingAndBringsNothingBack(t *testing.T) {
	for seed := range *seeds {
		m := newModel(t, seed)
		for range 8 {
			if errors.Is(m.open(), errKilled) {
				m.disk.restart()
				require.NoError(t, m.open())
			}
			m.disk.killAt, m.disk.tear = m.disk.steps+1+m.rnd.IntN(120), m.rnd.Float64()
			for !m.dead() {
				m.do()
			}
			m.disk.restart()
			// Some of the time the next start is killed as well.
			if m.rnd.IntN(2) == 0 {
				m.disk.killAt = 1 + m.rnd.IntN(12)
			}
		}
	}
}

func TestKillOnAFullDiskLosesNothingAndBringsNothingBack(t *testing.T) {
	for seed := range *seeds {
		m := newModel(t, seed)
		for range 8 {
			m.disk.limited = false
			require.NoError(t, m.open())
			// Nothing may be left that tells the last number given out.
			m.last = 0
			m.disk.killAt, m.disk.tear = m.disk.steps+40+m.rnd.IntN(200), m.rnd.Float64()
			for !m.dead() {
				m.do()
				if m.rnd.IntN(10) == 0 {
					m.disk.limited, m.disk.room = m.rnd.IntN(3) > 0, m.rnd.Int64N(2000)
					m.disk.noTruncate = m.rnd.IntN(3) == 0
				}
			}
			m.disk.restart()
		}
	}
}

func TestLossOfPowerKeepsWhatWasSynced(t *testing.T) {
	for seed := range *seeds {
		m := newModel(t, seed)
		m.forgetful = true
		m.cfg.SyncInterval = time.Hour
		for range 8 {
			require.NoError(t, m.open())
			require.NoError(t, m.sync())
			m.disk.killAt, m.disk.tear = m.disk.steps+1+m.rnd.IntN(200), m.rnd.Float64()
			for !m.dead() {
				m.do()
			}
			m.disk.losePower(m.rnd)
		}
	}
}

func TestKillAtEveryStepOfOneHistory(t *testing.T) {
	for tear, kill := 0.0, 1; ; kill++ {
		m := newModel(t, 7)
		m.disk.killAt, m.disk.tear = kill, tear
		err := m.open()
		for range 160 {
			if err != nil || m.dead() {
				break
			}
			m.do()
		}
		if !m.dead() {
			require.Greater(t, kill, 100)
			require.Positive(t, m.s.Stats().Moved)
			return
		}
		m.disk.restart()
		require.NoError(t, m.open())
		m.read(m.some(1 << 20))
		m.check()
		tear = 1.5 - tear
		if tear > 1 {
			tear -= 1
		}
	}
}
