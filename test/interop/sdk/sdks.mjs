// Asks model APIs by the official SDKs and says what they make of the answers.
//
// Each line of standard input is a job: {"family", "base", "body"}; each line of
// standard output is what came of it, a parsed answer or {"error", "status", "body"}.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { createInterface } from "node:readline";

const openai = (base) => new OpenAI({ baseURL: base, apiKey: "none", maxRetries: 0 });

async function chat(base, body) {
  if (!body.stream) return openai(base).chat.completions.create(body);
  return openai(base).chat.completions.stream(body).finalChatCompletion();
}

async function responses(base, body) {
  const answer = await openai(base).responses.create(body);
  if (!body.stream) return answer;
  let final;
  for await (const event of answer) {
    if (["response.completed", "response.incomplete", "response.failed"].includes(event.type)) final = event.response;
  }
  return final;
}

async function messages(base, body) {
  const client = new Anthropic({ baseURL: base, apiKey: "none", maxRetries: 0 });
  return body.stream ? client.messages.stream(body).finalMessage() : client.messages.create(body);
}

async function gemini(base, body) {
  const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: base } });
  const call = { model: "gemini-x", contents: body.contents, config: body.config };
  const answers = [];
  if (!body.stream) answers.push(await client.models.generateContent(call));
  else for await (const part of await client.models.generateContentStream(call)) answers.push(part);
  const parts = answers.flatMap((a) => a.candidates[0].content.parts ?? []);
  const last = answers.at(-1);
  return {
    text: parts.map((part) => part.text ?? "").join(""),
    calls: parts.filter((part) => part.functionCall).map(({ functionCall: { name, args } }) => ({ name, args })),
    finish: last.candidates[0].finishReason,
    tokens: last.usageMetadata.totalTokenCount,
  };
}

const families = {
  "openai-chat": chat, "openai-compatible": chat, "openai-responses": responses, "anthropic-messages": messages, gemini,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { family, base, body } = JSON.parse(line);
  let said;
  try {
    said = await families[family](base, body);
  } catch (error) {
    said = { error: error.name === "Error" ? error.constructor.name : error.name, status: error.status, body: error.error };
    if (typeof error.status !== "number") said.message = String(error);
  }
  console.log(JSON.stringify(said));
}
