package spool

import (
	"bytes"
	"slices"

	"github.com/stretchr/testify/require"
)

// live are some of the records that are held, in no order but the same for the
// same seed.
func (m *model) some(n int) []*held {
	var lsns []uint64
	for lsn, h := range m.held {
		if !h.freed {
			lsns = append(lsns, lsn)
		}
	}
	slices.Sort(lsns)
	m.rnd.Shuffle(len(lsns), func(i, j int) { lsns[i], lsns[j] = lsns[j], lsns[i] })
	var hs []*held
	for _, lsn := range lsns[:min(n, len(lsns))] {
		hs = append(hs, m.held[lsn])
	}
	return hs
}

// do runs one random operation.
func (m *model) do() {
	var err error
	switch n := m.rnd.IntN(100); {
	case n < 40:
		err = m.append()
	case n < 65:
		m.free(m.some(1 + m.rnd.IntN(8)))
	case n < 77:
		id, mark := m.id(), m.bytes(300)
		m.maybeMark[id] = mark
		m.remember(id, mark)
		if err = m.s.Mark(id, mark); err == nil {
			m.marks[id] = mark
		}
		if !m.dead() {
			delete(m.maybeMark, id)
		}
	case n < 82:
		id := m.id()
		m.maybeMark[id] = nil
		m.remember(id, nil)
		if err = m.s.Unmark(id); err == nil {
			delete(m.marks, id)
		}
		if !m.dead() {
			delete(m.maybeMark, id)
		}
	case n < 88:
		m.read(m.some(20))
	case n < 94:
		err = m.s.Compact()
	case n < 98:
		m.s.tidy()
	default:
		err = m.sync()
	}
	if err != nil && !m.dead() {
		require.ErrorIs(m.t, err, ErrFull)
	}
	require.LessOrEqual(m.t, m.s.Stats().Bytes, m.cfg.MaxBytes)
}

func (m *model) append() error {
	recs := make([]Record, 1+m.rnd.IntN(6))
	for i := range recs {
		most := 400
		if m.rnd.IntN(40) == 0 {
			most = 9000
		}
		recs[i] = Record{
			ID: m.id(), Kind: uint8(m.rnd.Uint32()), Flags: uint16(m.rnd.Uint32()),
			Spans: m.rnd.Uint32(), Logs: m.rnd.Uint32(), Arrived: m.rnd.Int64(),
			Extra: m.bytes(40), Payload: m.bytes(most),
		}
	}
	m.appending = recs
	if err := m.s.Append(recs); err != nil {
		return err
	}
	m.appending = nil
	for i := range recs {
		require.Greater(m.t, recs[i].LSN, m.last)
		m.last = recs[i].LSN
		require.NotContains(m.t, m.at, recs[i].Pos)
		h := &held{rec: recs[i]}
		m.held[recs[i].LSN] = h
		m.at[recs[i].Pos] = h
	}
	return nil
}

func (m *model) read(hs []*held) {
	slices.SortFunc(hs, func(a, b *held) int { return int(a.rec.LSN) - int(b.rec.LSN) })
	var positions []Position
	for _, h := range hs {
		positions = append(positions, h.rec.Pos)
	}
	next := 0
	lost, err := m.s.Read(positions, func(i int, r *Record) error {
		require.Equal(m.t, next, i)
		next++
		require.Equal(m.t, hs[i].rec.LSN, r.LSN)
		require.Equal(m.t, hs[i].rec.Pos, r.Pos)
		require.True(m.t, bytes.Equal(hs[i].rec.Payload, r.Payload))
		require.True(m.t, bytes.Equal(hs[i].rec.Extra, r.Extra))
		return nil
	})
	require.NoError(m.t, err)
	require.Zero(m.t, lost)
	require.Equal(m.t, len(hs), next)
}
