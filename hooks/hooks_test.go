package hooks

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// child runs programs under the hooks, beside a directory of modules that stand for
// frameworks: make interop runs the real ones.
type child struct {
	t         *testing.T
	dir, tape string
	env       []string
	// mu guards asked, what came to the tape.
	mu    sync.Mutex
	asked []string
}

func newChild(t *testing.T) *child {
	t.Helper()
	c := &child{t: t, dir: t.TempDir()}
	server := httptest.NewServer(http.HandlerFunc(c.answer))
	t.Cleanup(server.Close)
	c.tape = server.URL
	// A path with a space and a quote is a path too.
	hooks := filepath.Join(t.TempDir(), `the "hooks"`)
	require.NoError(t, os.Mkdir(hooks, 0o700))
	require.NoError(t, Write(hooks))
	c.env = Environment(hooks, func(name string) string {
		return map[string]string{"PYTHONPATH": c.dir, "NODE_OPTIONS": "--no-deprecation"}[name]
	})
	return c
}

// answer is the tape: what a call gets is in its arguments.
func (c *child) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	c.asked = append(c.asked, string(body))
	c.mu.Unlock()
	var call struct{ Args map[string]any }
	_ = json.Unmarshal(body, &call)
	if r.URL.Path == "/v1/record" {
		_, _ = io.WriteString(w, `{"result":null}`)
		return
	}
	switch call.Args["want"] {
	case "live":
		_, _ = io.WriteString(w, `{"live":true,"code":"run_live","call":"live-1","args":{"want":"other"}}`)
	case "failure":
		_, _ = io.WriteString(w, `{"result":null,"error":{"code":"","message":"out of paper","type":"`+call.Args["type"].(string)+`"}}`)
	case "drift":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"error":{"code":"tape_drift","message":"drift at step 1"}}`)
	default:
		_, _ = io.WriteString(w, `{"result":{"n":1}}`)
	}
}

func (c *child) file(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	require.NoError(c.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(c.t, os.WriteFile(path, []byte(text), 0o600))
}

func (c *child) run(name string, args ...string) (said string, code int) {
	c.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		c.t.Skip(name + " is not installed")
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), append(c.env, "PYTHONDONTWRITEBYTECODE=1", "TAPE_URL="+c.tape)...)
	c.mu.Lock()
	c.asked = nil
	c.mu.Unlock()
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// calls are those of the last run.
func (c *child) calls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

// smolagents is as much of the framework as the hook sees.
const smolagents = `
class Tool:
    name = "print"
    inputs = {"want": {}, "type": {}}
    def __call__(self, *args, sanitize_inputs_outputs=False, **kwargs):
        return self.forward(*args, **kwargs)
    def forward(self, want="", type=""):
        return ["live", want]
`

func TestPythonToolsAreAnsweredOnceTheirFrameworkIsImported(t *testing.T) {
	for name, want := range map[string]struct {
		program, says string
		code          int
	}{
		"a result":                   {`print(Tool()("yes"))`, "{'n': 1}", 0},
		"a failure of its class":     {"try:\n Tool()(want='failure', type='ValueError')\nexcept ValueError as e: print('value', e)", "value out of paper", 0},
		"a failure of the program's": {"class Jam(Exception): pass\ntry:\n Tool()(want='failure', type='Jam')\nexcept Jam as e: print('jam', e)", "jam out of paper", 0},
		"a failure of an unknown class": {
			"try:\n Tool()(want='failure', type='printer.Jam')\nexcept Exception as e: print(type(e).__name__, e)", "Jam out of paper", 0},
		"a class that is no failure": {
			"try:\n Tool()(want='failure', type='int')\nexcept Exception as e: print(type(e).__name__, e)", "int out of paper", 0},
		"a verdict is nobody's answer": {"try:\n Tool()(want='drift')\nexcept Exception as e: print('swallowed')", "tape: drift at step 1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChild(t)
			c.file("smolagents/__init__.py", "")
			c.file("smolagents/tools.py", smolagents)
			said, code := c.run("python3", "-c", "from smolagents.tools import Tool\n"+want.program)
			assert.Contains(t, said, want.says)
			assert.Equal(t, want.code, code, said)
			assert.NotContains(t, said, "swallowed")
			assert.NotContains(t, said, "live")
			require.Len(t, c.calls(), 1)
			assert.Contains(t, c.calls()[0], `"tool": "print"`)
		})
	}
}

// TestPythonToolsRunWhereTheTapeHasThem: in a live replay, with the arguments that it
// says, and it is told what came of them.
func TestPythonToolsRunWhereTheTapeHasThem(t *testing.T) {
	for name, want := range map[string]struct{ program, says, told string }{
		"a result":        {`print(Tool()("live"))`, "['live', 'other']", `"result": ["live", "other"]`},
		"a failure":       {"class Jam(Tool):\n def forward(self, want): raise ValueError('no ' + want)\ntry: Jam()(want='live')\nexcept ValueError as e: print(e)", "no other", `"error": {"type": "ValueError", "message": "no other"}`},
		"what is no JSON": {"class Set(Tool):\n def forward(self, want): return {want}\nprint(Set()(want='live'))", "{'other'}", `"result": ["other"]`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChild(t)
			c.file("smolagents/__init__.py", "")
			c.file("smolagents/tools.py", smolagents)
			said, code := c.run("python3", "-c", "from smolagents.tools import Tool\n"+want.program)
			require.Zero(t, code, said)
			assert.Contains(t, said, want.says)
			require.Len(t, c.calls(), 2)
			assert.Contains(t, c.calls()[0], `"live": true`)
			assert.Contains(t, c.calls()[1], `"call": "live-1"`)
			assert.Contains(t, c.calls()[1], want.told)
		})
	}
}

func TestTheStartUpHookKeepsToItself(t *testing.T) {
	c := newChild(t)
	c.file("sitecustomize.py", `print("the other sitecustomize:", __name__)`)
	c.file("smolagents/__init__.py", "")
	c.file("smolagents/tools.py", "class Renamed: pass")
	said, code := c.run("python3", "-c", "import sys; print(sorted(m for m in sys.modules if m.startswith('tapedeck_hooks')))")
	require.Zero(t, code, said)
	assert.Contains(t, said, "the other sitecustomize: sitecustomize", "it runs under its own name")
	assert.Contains(t, said, "['tapedeck_hooks']", "nothing is imported before a framework is")

	said, code = c.run("python3", "-c", "import smolagents.tools; print('on it goes')")
	assert.Zero(t, code, said)
	assert.Contains(t, said, "tools of smolagents.tools are not answered from the tape")
	assert.Contains(t, said, "on it goes")

	c.tape = ""
	c.env = append(c.env, "TAPE_URL=")
	said, _ = c.run("python3", "-c", "import sys; print('tapedeck_hooks' in sys.modules)")
	assert.Contains(t, said, "False", "without a tape there is nothing to do")
}

func TestAServerThatIsGoneStopsTheAgent(t *testing.T) {
	c := newChild(t)
	c.tape = "http://127.0.0.1:1"
	c.file("smolagents/__init__.py", "")
	c.file("smolagents/tools.py", smolagents)
	said, code := c.run("python3", "-c", "from smolagents.tools import Tool\ntry: Tool()('yes')\nexcept Exception: print('swallowed')")
	assert.Equal(t, 1, code)
	assert.Contains(t, said, "http://127.0.0.1:1 does not answer")
	assert.NotContains(t, said, "swallowed")
}

// vercel is as much of the Vercel AI SDK as the hook sees: the function is not even
// exported.
const vercel = `
async function executeToolCall({ toolCall, tools }) {
  const tool = tools[toolCall.toolName];
  try {
    return { output: await tool.execute.bind(tool)(toolCall.input) };
  } catch (error) {
    return { caught: error.name + ": " + error.message };
  }
}
const generate = (toolCall, tools) => executeToolCall({ toolCall, tools });
`

func TestNodeToolsAreAnsweredHoweverTheirFrameworkIsLoaded(t *testing.T) {
	const program = `
const tools = { print: { execute: () => "live" } };
generate({ toolName: "print", toolCallId: "c1", input: JSON.parse(process.argv[2]) }, tools).then((r) => console.log(JSON.stringify(r)));
`
	for load, file := range map[string]string{
		`const { generate } = require("ai");`:      "main.cjs",
		`import { generate } from "ai";`:           "main.mjs",
		`const { generate } = await import("ai");`: "late.mjs",
	} {
		c := newChild(t)
		c.file("node_modules/ai/package.json", `{"name":"ai","version":"6.0.0","exports":{"import":"./dist/index.mjs","require":"./dist/index.js"}}`)
		c.file("node_modules/ai/dist/index.mjs", vercel+"export { generate };")
		c.file("node_modules/ai/dist/index.js", vercel+"module.exports = { generate };")
		c.file(file, load+program)
		for input, want := range map[string]struct {
			says string
			code int
		}{
			`{"want":"yes"}`:                           {`{"output":{"n":1}}`, 0},
			`{"want":"failure","type":"RangeError"}`:   {`{"caught":"RangeError: out of paper"}`, 0},
			`{"want":"failure","type":"a.PaperError"}`: {`{"caught":"PaperError: out of paper"}`, 0},
			`{"want":"drift"}`:                         {"TapeVerdict: drift at step 1", 1},
		} {
			said, code := c.run("node", file, input)
			assert.Contains(t, said, want.says, "%s %s", file, input)
			assert.Equal(t, want.code, code, said)
			assert.NotContains(t, said, "live")
			require.Len(t, c.calls(), 1, said)
			assert.Contains(t, c.calls()[0], `"tool_call_id":"c1"`)
		}
	}
	t.Run("a call that is to run", func(t *testing.T) {
		c := newChild(t)
		c.file("node_modules/ai/package.json", `{"name":"ai","version":"6.0.0","exports":"./dist/index.mjs"}`)
		c.file("node_modules/ai/dist/index.mjs", vercel+"export { generate };")
		c.file("main.mjs", `import { generate } from "ai";
const tools = {
  print: { execute: ({ want }) => ["live", want] },
  jam: { execute: ({ want }) => { throw new RangeError(want); } },
  stream: { execute: async function* ({ want }) { yield "soon"; yield want; } },
};
console.log(JSON.stringify(await generate({ toolName: process.argv[2], input: { want: "live" } }, tools)));`)
		for tool, want := range map[string][2]string{
			"print":  {`{"output":["live","other"]}`, `"result":["live","other"]`},
			"jam":    {`{"caught":"RangeError: other"}`, `"error":{"type":"RangeError","message":"other"}`},
			"stream": {`{"output":"other"}`, `"result":"other"`},
		} {
			said, code := c.run("node", "main.mjs", tool)
			assert.Zero(t, code, said)
			assert.Contains(t, said, want[0])
			require.Len(t, c.calls(), 2, said)
			assert.Contains(t, c.calls()[0], `"live":true`)
			assert.JSONEq(t, `{"call":"live-1",`+want[1]+`}`, c.calls()[1])
		}
	})
	t.Run("a version without the function", func(t *testing.T) {
		c := newChild(t)
		c.file("node_modules/ai/package.json", `{"name":"ai","version":"9.0.0","exports":"./dist/index.mjs"}`)
		c.file("node_modules/ai/dist/index.mjs", "export const generate = 1;")
		c.file("main.mjs", `import { generate } from "ai"; console.log("on it goes", generate);`)
		said, code := c.run("node", "main.mjs")
		assert.Zero(t, code, said)
		assert.Contains(t, said, "tools of vercel are not answered from the tape")
		assert.Contains(t, said, "on it goes 1")
	})
}
