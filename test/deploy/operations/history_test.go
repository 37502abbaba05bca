package operations

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/util/teststorage"
	"github.com/stretchr/testify/require"
)

// scrape has the series that a collector shows at one time.
type scrape map[string]sample

type sample struct {
	labels labels.Labels
	value  float64
}

// parse reads the text that Prometheus reads, and adds the label that Prometheus adds.
func parse(t *testing.T, text []byte) scrape {
	t.Helper()
	out := scrape{}
	p := textparse.NewPromParser(text, labels.NewSymbolTable(), false)
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		if entry != textparse.EntrySeries {
			continue
		}
		var read labels.Labels
		p.Labels(&read)
		_, _, value := p.Series()
		named := labels.NewBuilder(read).Set("instance", "a").Labels()
		out[named.String()] = sample{named, value}
	}
}

// history is what a collector showed: once before anything happened, then while it did.
type history struct {
	calm    scrape
	trouble []scrape
}

// calmFor is more than any rule looks back.
const calmFor = 8 * time.Hour

// epoch is so long ago that the trouble begins now: some metrics are times.
var epoch = time.Now().Add(-calmFor)

// stored is what a Prometheus has that saw the calm for hours and then the trouble for
// the given time, each scrape of it for an equal part. It was scraped each minute, until
// the time that is returned.
func (h *history) stored(t *testing.T, trouble time.Duration) (*teststorage.TestStorage, time.Time) {
	t.Helper()
	storage := promqltest.LoadedStorage(t, "")
	app := storage.Appender(t.Context())
	end := epoch.Add(calmFor + trouble)
	for at := epoch; at.Before(end); at = at.Add(time.Minute) {
		shown := h.calm
		if since := at.Sub(epoch) - calmFor; since >= 0 {
			shown = h.trouble[int(since*time.Duration(len(h.trouble))/trouble)]
		}
		for _, s := range shown {
			_, err := app.Append(0, s.labels, at.UnixMilli(), s.value)
			require.NoError(t, err)
		}
	}
	require.NoError(t, app.Commit())
	return storage, end.Add(-time.Minute)
}
