// The agent of langgraph_agent.py in LangChain.js. It records nothing: the tape of the
// other replays in it. Usage: langchain_agent.mjs DOCUMENT
import { tool } from "@langchain/core/tools";
import { createReactAgent, ToolNode } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { effects } from "./effects.mjs";

const tools = Object.entries(effects).map(([name, { description, input, run }]) =>
  tool(run, { name, description, schema: input }),
);
const agent = createReactAgent({
  llm: new ChatOpenAI({ model: "gpt-4o-mini", temperature: 0, configuration: { baseURL: process.env.OPENAI_BASE_URL } }),
  tools: new ToolNode(tools, { handleToolErrors: false }),
  prompt: "You publish documents.",
});
const { messages } = await agent.invoke({ messages: [["user", `Publish the document ${process.argv[2]}`]] });
console.log(messages.at(-1).content);
