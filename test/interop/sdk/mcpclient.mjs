// Calls tools of an MCP server by the official SDK: one line of JSON a call.
//
// Usage: mcpclient.mjs URL TOOL ARGUMENTS [TOOL ARGUMENTS]...
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, ...calls] = process.argv.slice(2);
const client = new Client({ name: "interop", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
console.log(JSON.stringify((await client.listTools()).tools.map((tool) => tool.name)));
for (let i = 0; i < calls.length; i += 2) {
  let said;
  try {
    const result = await client.callTool({ name: calls[i], arguments: JSON.parse(calls[i + 1]) });
    said = { failed: result.isError ?? false, text: result.content.map((b) => b.text), structured: result.structuredContent ?? null };
  } catch (error) {
    said = { thrown: error.message };
  }
  console.log(JSON.stringify(said));
}
await client.close();
