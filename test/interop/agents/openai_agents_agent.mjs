// The agent of openai_agents_agent.py in JavaScript. It records nothing: the tape of
// the other replays in it. Usage: openai_agents_agent.mjs DOCUMENT
import { Agent, run, setTracingDisabled, tool } from "@openai/agents";
import { effects } from "./effects.mjs";

setTracingDisabled(true);
const tools = Object.entries(effects).map(([name, { description, input, run }]) =>
  tool({ name, description, parameters: input, execute: run, errorFunction: name === "publish" ? null : undefined }),
);
const agent = new Agent({ name: "publisher", instructions: "You publish documents.", model: "gpt-4o-mini", tools });
const result = await run(agent, `Publish the document ${process.argv[2]}`);
console.log(result.finalOutput);
