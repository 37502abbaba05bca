package spool

import (
	"bytes"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStoragesDoTheSame(t *testing.T) {
	dir, err := openDirectory(t.TempDir())
	require.NoError(t, err)
	for name, st := range map[string]storage{"memory": newMemory(), "directory": dir} {
		t.Run(name, func(t *testing.T) {
			f, err := st.create("a")
			require.NoError(t, err)
			_, err = st.create("a")
			require.ErrorIs(t, err, os.ErrExist)
			_, err = st.open("b")
			require.ErrorIs(t, err, os.ErrNotExist)
			require.ErrorIs(t, st.rename("b", "c"), os.ErrNotExist)

			data := bytes.Repeat([]byte("0123456789"), 20_000)
			n, err := f.WriteAt(data, 0)
			require.NoError(t, err)
			require.Len(t, data, n)
			require.NoError(t, f.Truncate(150_003))
			_, err = f.WriteAt([]byte("end"), 150_003)
			require.NoError(t, err)
			require.NoError(t, f.Sync())
			require.NoError(t, st.sync())
			require.NoError(t, f.Close())

			require.NoError(t, st.rename("a", "b"))
			f, err = st.open("b")
			require.NoError(t, err)
			size, err := f.size()
			require.NoError(t, err)
			assert.EqualValues(t, 150_006, size)
			got := make([]byte, 150_010)
			n, err = f.ReadAt(got, 0)
			require.ErrorIs(t, err, io.EOF)
			assert.Equal(t, append(slices.Clone(data[:150_003]), "end"...), got[:n])
			n, err = f.ReadAt(got[:10], 65_530)
			require.NoError(t, err)
			assert.Equal(t, "0123456789", string(got[:n]))
			require.NoError(t, f.Close())

			names, err := st.list()
			require.NoError(t, err)
			assert.Contains(t, names, "b")
			require.NoError(t, st.remove("b"))
			require.NoError(t, st.remove("b"), "it is gone, as it should be")
			names, err = st.list()
			require.NoError(t, err)
			assert.NotContains(t, names, "b")
			require.NoError(t, st.close())
		})
	}
}
