package operations

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dashboard is what Grafana must find in the file.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Panels        []struct {
		ID          int
		Type, Title string
		Datasource  struct{ UID string }
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct{ RefID, Expr string }
	}
	Templating struct {
		List []struct {
			Name, Type string
			Query      json.RawMessage
		}
	}
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	text, err := os.ReadFile(deploy + "dashboard.json")
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

// expressions are those of the dashboard, with what Grafana puts for its variables.
func (d *dashboard) expressions() map[string]string {
	out := map[string]string{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			expr := strings.ReplaceAll(target.Expr, "$__rate_interval", "4m")
			out[p.Title+"/"+target.RefID] = strings.ReplaceAll(expr, "$instance", ".*")
		}
	}
	return out
}

func TestDashboardIsWhole(t *testing.T) {
	d := readDashboard(t)
	assert.NotEmpty(t, d.UID)
	assert.GreaterOrEqual(t, d.SchemaVersion, 36)
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	assert.ElementsMatch(t, []string{"datasource", "instance"}, variables)
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		assert.False(t, ids[p.ID], "id %d is there twice", p.ID)
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				assert.Empty(t, taken[[2]int{x, y}], "%s lies over another", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type != "row" {
			assert.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
			assert.NotEmpty(t, p.Targets, p.Title)
		}
	}
}

// TestPanelsShowSomething: each expression has data of one collector or another.
func TestPanelsShowSomething(t *testing.T) {
	// These need runs that have outlived a policy of days.
	shown := map[string]bool{"Removed by retention/A": true, "Removed by retention/B": true}
	d := readDashboard(t)
	engine := promqltest.NewTestEngine(t, false, 0, 1_000_000)
	for name := range scenes {
		h := play(t, name)
		storage, end := h.stored(t, 30*time.Minute)
		for title, expr := range d.expressions() {
			query, err := engine.NewInstantQuery(t.Context(), storage, nil, expr, end)
			require.NoError(t, err, title)
			result := query.Exec(t.Context())
			require.NoError(t, result.Err, title)
			vector, err := result.Vector()
			require.NoError(t, err, title)
			if len(vector) > 0 {
				shown[title] = true
			}
			query.Close()
		}
	}
	for title := range d.expressions() {
		assert.True(t, shown[title], "%s shows nothing", title)
	}
}
