package dir_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
)

const crashVar = "TAPEDECK_CRASH_TEST_DIR"

// TestMain makes the test binary a writer that never ends, when it is started as
// one.
func TestMain(m *testing.M) {
	if root := os.Getenv(crashVar); root != "" {
		writeForever(root)
	}
	os.Exit(m.Run())
}

func pattern(n int) []byte { return bytes.Repeat(fmt.Appendf(nil, "object %d\n", n), 20_000) }

func writeForever(root string) {
	b, err := dir.Open(root)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	for n := 0; ; n++ {
		if err := b.Put(ctx, fmt.Sprintf("tapes/c/t%d/%d.zst", n%7, n), pattern(n)); err != nil {
			panic(err)
		}
		if err := b.Append(ctx, "index/rows.jsonl", fmt.Appendf(nil, "row %d\n", n)); err != nil {
			panic(err)
		}
		fmt.Println(n)
	}
}

// A writer killed at any moment leaves whole objects, all it had reported among
// them, and at most one torn line at the end of what it appended to.
func TestAWriterKilledAtAnyMoment(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for round := range 5 {
		root := t.TempDir()
		var reported bytes.Buffer
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), crashVar+"="+root)
		cmd.Stdout = &reported
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(100+37*round) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())

		b, err := dir.Open(root)
		require.NoError(t, err)
		stored := 0
		for _, o := range storetest.List(t, b, "tapes/") {
			var trace, n int
			_, err := fmt.Sscanf(o.Name, "tapes/c/t%d/%d.zst", &trace, &n)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(pattern(n), []byte(storetest.Read(t, b, o.Name))), "object %d is whole", n)
			stored++
		}
		told := strings.Count(reported.String(), "\n")
		require.Positive(t, told)
		assert.GreaterOrEqual(t, stored, told)
		assert.LessOrEqual(t, stored, told+1)
		rows := strings.Split(storetest.Read(t, b, "index/rows.jsonl"), "\n")
		for n, row := range rows[:len(rows)-1] {
			assert.Equal(t, fmt.Sprintf("row %d", n), row)
		}
		assert.GreaterOrEqual(t, len(rows)-1, told)
	}
}
