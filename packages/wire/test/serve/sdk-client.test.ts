/** The official client as the oracle for what the wire serves, in both eras, over HTTP and over pipes. */

import { PassThrough } from "node:stream";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import { listenHttp } from "../../src/serve/http-listener.ts";
import { type ServedClient, type ServedSession, serveClient } from "../../src/serve/served-session.ts";
import { openClientStdio } from "../../src/serve/stdio-client.ts";
import type { Era, JsonObject } from "../../src/session.ts";
import { isObject, member } from "../../src/shapes/json.ts";
import { type Collected, collected } from "../support/collected.ts";
import { pipeTransport } from "../support/sdk-pipes.ts";

const tool = { name: "greet", inputSchema: { type: "object", properties: {} } };
const uncached = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const ask = { message: "Your name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };

/** A server of both eras with a tool that reports progress, logs, and asks for a name. */
function served(client: ServedClient, steps: Collected<Step>): ServedSession {
  async function greet(params: JsonObject, id: number | string, signal: AbortSignal): Promise<JsonObject> {
    const { _meta, inputResponses } = params;
    const isModern = member(_meta, "io.modelcontextprotocol/protocolVersion") !== undefined;
    const progressToken = member(_meta, "progressToken");
    if (member(params["arguments"], "wait") === true)
      return new Promise((_, reject) => {
        steps.add("began");
        signal.addEventListener("abort", () => {
          steps.add("cancelled");
          reject(new Error("cancelled"));
        });
      });
    if (progressToken !== undefined)
      await client.notify("notifications/progress", { progressToken, progress: 1, total: 2 }, id);
    await client.notify("notifications/message", { level: "info", data: "asking" }, id);
    if (isModern && !isObject(inputResponses))
      return {
        resultType: "input_required",
        inputRequests: { name: { method: "elicitation/create", params: { mode: "form", ...ask } } },
      };
    const answer = isModern
      ? member(inputResponses, "name")
      : await client.request("elicitation/create", ask, { about: id, signal });
    const text = `Hello ${String(member(member(answer, "content"), "name"))}`;
    return { ...(isModern && { resultType: "complete" }), content: [{ type: "text", text }] };
  }

  return {
    async request(method, params, { id, signal }) {
      const capabilities = { tools: {}, logging: {} };
      const serverInfo = { name: "served", version: "1" };
      switch (method) {
        case "initialize":
          return { protocolVersion: "2025-11-25", capabilities, serverInfo };
        case "server/discover": {
          const _meta = { "io.modelcontextprotocol/serverInfo": serverInfo };
          return { ...uncached, supportedVersions: ["2026-07-28"], capabilities, _meta };
        }
        case "tools/list":
          return { ...uncached, tools: [tool] };
        case "tools/call":
          return greet(params, id, signal);
        default:
          throw new WireError("rpc", `${method} is not here`, { rpc: { code: -32601 } });
      }
    },
  };
}

/** Where the client finds the server, and what happens to a call that waits there. */
interface Served extends AsyncDisposable {
  readonly transport: Transport;
  readonly steps: Collected<Step>;
}

type Step = "began" | "cancelled";

async function overHttp(era: Era): Promise<Served> {
  const steps = collected<Step>();
  const listener = await listenHttp({
    eras: [era],
    onClient: (open) => void serveClient(open, (client) => served(client, steps)),
  });
  return {
    // The SDK's own types do not follow `exactOptionalPropertyTypes`.
    transport: new StreamableHTTPClientTransport(new URL(listener.url)) as Transport,
    steps,
    [Symbol.asyncDispose]: () => listener.close(),
  };
}

async function overPipes(): Promise<Served> {
  const steps = collected<Step>();
  const pipes = { input: new PassThrough(), output: new PassThrough() };
  const client = serveClient(openClientStdio(pipes), (one) => served(one, steps));
  return {
    transport: pipeTransport(pipes),
    steps,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

describe.each([
  ["legacy", "HTTP", () => overHttp("legacy")],
  ["modern", "HTTP", () => overHttp("modern")],
  ["legacy", "pipes", overPipes],
  ["modern", "pipes", overPipes],
] as const)("the official client in the %s era over %s", (era, _transport, serve) => {
  test("lists, calls with progress, answers a question, and cancels", async () => {
    await using server = await serve();
    const mode = era === "legacy" ? "legacy" : "auto";
    const client = new Client(
      { name: "oracle", version: "1" },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
    );
    client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { name: "Ada" } }));
    await client.connect(server.transport);
    try {
      expect(client.getServerVersion()).toMatchObject({ name: "served" });
      expect((await client.listTools()).tools).toMatchObject([{ name: "greet" }]);
      const progress: number[] = [];
      const onprogress = (step: { readonly progress: number }): void => void progress.push(step.progress);
      const result = await client.callTool({ name: "greet", arguments: {} }, { onprogress });
      expect(result.content).toEqual([{ type: "text", text: "Hello Ada" }]);
      expect(progress.length).toBeGreaterThan(0);
      await expect(client.getPrompt({ name: "x" })).rejects.toThrow();
      const stop = new AbortController();
      const waiting = client.callTool({ name: "greet", arguments: { wait: true } }, { signal: stop.signal });
      waiting.catch(() => {});
      await server.steps.reached(1);
      stop.abort();
      await expect(waiting).rejects.toThrow();
      expect(await server.steps.reached(2)).toEqual(["began", "cancelled"]);
    } finally {
      await client.close();
    }
  });
});
