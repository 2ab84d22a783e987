// A batch: one conversation for each line of stdin, one line of JSON for each answer. There is no terminal to ask on.
import { createInterface } from "node:readline";
import { chooseModel, createHost, systemClock } from "@fairlead/core";

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

const choice = await chooseModel({ env: process.env, clock: systemClock });
if (choice.kind !== "model") throw new Error("Set GEMINI_API_KEY, or OPENAI_BASE_URL.");
const host = await createHost({
  model: choice.model,
  interactive: false,
  allow: [{ server: "demo", tool: "statistics" }],
});

async function answer(question) {
  const calls = new Map();
  const options = { signal: stop.signal, wait: 5_000, limits: { turns: 10 } };
  for await (const event of host.runTurn(question, options)) {
    if (event.type === "call") calls.set(event.id, { name: event.name, status: event.status });
    if (event.type === "done")
      return { question, answer: event.text, reason: event.reason, calls: [...calls.values()] };
    if (event.type === "error") return { question, error: event.error.message, calls: [...calls.values()] };
  }
}

try {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === "") continue;
    const result = await answer(line);
    console.log(JSON.stringify(result));
    if (result.reason !== "stop") process.exitCode = 1;
    if (stop.signal.aborted) break;
  }
} finally {
  await host[Symbol.asyncDispose]();
}
