// Makes the calls in a file through the client and prints what came of each.
//
//     node agent.mjs CALLS RAN
//
// The tools leave a line in the file RAN when they really run.
import fs from "node:fs";
import * as tape from "../typescript/tape.mjs";

class ToolError extends Error {}

const [, , calls, ran] = process.argv;

for (const line of fs.readFileSync(calls, "utf8").split("\n").filter(Boolean)) {
  const { tool, args, result, error } = tape.parse(line);
  const run = async () => {
    fs.appendFileSync(ran, `${tool}\n`);
    if (error) throw new ToolError(error);
    return result;
  };
  let came;
  try {
    came = { result: await tape.call(tool, run, args, { errors: [ToolError] }) };
  } catch (caught) {
    if (caught instanceof ToolError) came = { failed: caught.message };
    else if (caught instanceof tape.Verdict) came = { verdict: caught.verdict, message: caught.message };
    else throw caught;
  }
  console.log(tape.dump(came));
}
