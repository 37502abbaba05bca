// What `npm run types` compiles: the uses that the documentation shows, with their types.
import * as tape from "./tape.mjs";

async function search(args: { query: string; limit?: number }): Promise<string[]> {
  return [args.query];
}

class Publisher {
  @tape.tool({ sideEffect: true })
  async publish(body: string): Promise<number> {
    return body.length;
  }
}

class ToolError extends Error {}

export async function uses(): Promise<number> {
  const found: string[] = await tape.call("search", search, { query: "x" }, { errors: [ToolError] });
  const wrapped = tape.tool("search", search);
  const again: string[] = await wrapped({ query: "y", limit: 2 });
  const session = new tape.Session("run.jsonl", { mode: "replay+record", redact: (value) => value, kinds: ["tool"] });
  const one: number = await session.call("count", (n: number) => n + 1, 1);
  try {
    session.close();
  } catch (error) {
    if (error instanceof tape.Drift) return error.differences.length;
    if (error instanceof tape.Unclean) return error.stats.unconsumed;
  }
  // @ts-expect-error: the arguments are those of the function
  await wrapped({ limit: 2 });
  return found.length + again.length + one + (await new Publisher().publish("text"));
}
