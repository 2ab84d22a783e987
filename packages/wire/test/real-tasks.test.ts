/** The reference server's tool that runs only as a task, on every transport that it has. */

import { expect, test } from "vitest";
import { connect } from "../src/connect.ts";
import type { JsonObject, Session } from "../src/session.ts";
import type { Target } from "../src/target.ts";
import { everythingOnStdio, startEverything } from "./support/everything-server.ts";

interface Way {
  readonly transport: string;
  readonly place: () => Promise<AsyncDisposable & { readonly target: Target }>;
}

const onTheWeb = (transport: "sse" | "streamableHttp", kind: "sse" | "http", path: string): Way["place"] =>
  async function place() {
    const server = await startEverything(transport);
    const target: Target = { kind, url: server.origin + path, headers: {} };
    return { target, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  };

const ways: readonly Way[] = [
  { transport: "stdio", place: async () => ({ target: everythingOnStdio, [Symbol.asyncDispose]: async () => {} }) },
  { transport: "streamable HTTP", place: onTheWeb("streamableHttp", "http", "/mcp") },
  { transport: "SSE", place: onTheWeb("sse", "sse", "/sse") },
];

test.concurrent.each(ways)(
  "over $transport a task tells what it does, asks when it must, and comes to its result; another is called off",
  async ({ place }) => {
    await using where = await place();
    const messages: JsonObject[] = [];
    const asked: string[] = [];
    const session: Session = await connect(where.target, {
      clientInfo: { name: "tasks-test", version: "1.0.0" },
      capabilities: { elicitation: { form: {} } },
      onRequest: async (method) => {
        asked.push(method);
        return { action: "accept", content: { interpretation: "historical" } };
      },
      onMessage: (_, message) => void messages.push(message),
      times: { probe: 10_000 },
    });
    const research = (topic: string) => ({ name: "simulate-research-query", arguments: { topic, ambiguous: true } });
    const words: (string | undefined)[] = [];
    const result = await session.request("tools/call", research("ropes"), {
      asTask: true,
      onProgress: ({ message }) => words.push(message),
    });
    expect(JSON.stringify(result["content"])).toContain("ropes (historical)");
    expect(asked).toEqual(["elicitation/create"]);
    expect(words).toContain("Gathering sources...");
    expect(words).toContain("Generating report...");

    const stop = new AbortController();
    const given = { asTask: true, signal: stop.signal, onProgress: () => stop.abort() };
    await expect(session.request("tools/call", research("knots"), given)).rejects.toMatchObject({ code: "cancelled" });
    await session.close();
    const cancel = messages.find(({ method }) => method === "tasks/cancel");
    expect(cancel).toBeDefined();
    expect(messages.some(({ method }) => method === "notifications/cancelled")).toBe(false);
  },
);
