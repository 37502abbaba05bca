package tape

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type keyVector struct {
	Name      string `json:"name"`
	Tool      string `json:"tool"`
	ArgsJSON  string `json:"args_json"`
	Canonical string `json:"canonical"`
	Key       string `json:"key"`
}

func keyVectors(t testing.TB) (vectors []keyVector) {
	file, err := os.Open("testdata/key_vectors.jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var v keyVector
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		vectors = append(vectors, v)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, vectors)
	return vectors
}

func TestKeyVectors(t *testing.T) {
	for _, v := range keyVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			canonical, err := Canonical([]byte(v.ArgsJSON))
			require.NoError(t, err)
			assert.Equal(t, v.Canonical, string(canonical))
			key, err := Key(v.Tool, []byte(v.ArgsJSON))
			require.NoError(t, err)
			assert.Equal(t, v.Key, key)
		})
	}
}
