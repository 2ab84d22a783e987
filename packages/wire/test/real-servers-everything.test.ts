/** The reference server on all its transports: everything that it can do works, with our engine as with the official client. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, listAll, normaliseToolResult } from "../src/index.ts";
import type { JsonObject, Progress, RequestHandler, RequestOptions, Session } from "../src/session.ts";
import type { ConnectOptions, Target } from "../src/target.ts";
import { createNews } from "./contract/news.ts";
import { connectSdk } from "./oracle/sdk-session.ts";
import { type EverythingServer, everythingOnStdio, startEverything } from "./support/everything-server.ts";

interface Leg {
  readonly engine: string;
  readonly open: (target: Target, options: ConnectOptions) => Promise<Session>;
  readonly transport: string;
  readonly serve?: () => Promise<EverythingServer>;
  readonly target: (origin: string) => Target;
  /** The transport that it turns out to be. */
  readonly found: "stdio" | "http" | "sse";
}

const sse = (): Promise<EverythingServer> => startEverything("sse");
const http = (): Promise<EverythingServer> => startEverything("streamableHttp");
const at = (kind: "http" | "sse" | "http-or-sse", path: string) => (origin: string) =>
  ({ kind, url: origin + path, headers: {} }) as const;

const ways: readonly Omit<Leg, "engine" | "open">[] = [
  { transport: "stdio", target: () => everythingOnStdio, found: "stdio" },
  { transport: "streamable HTTP", serve: http, target: at("http", "/mcp"), found: "http" },
  { transport: "SSE", serve: sse, target: at("sse", "/sse"), found: "sse" },
];
const fallbacks: readonly Omit<Leg, "engine" | "open">[] = [
  {
    transport: "whatever turns out to be streamable HTTP",
    serve: http,
    target: at("http-or-sse", "/mcp"),
    found: "http",
  },
  { transport: "whatever turns out to be SSE", serve: sse, target: at("http-or-sse", "/sse"), found: "sse" },
];
const legs: readonly Leg[] = [
  ...[...ways, ...fallbacks].map((way) => ({ ...way, engine: "our engine", open: connect })),
  ...ways.map((way) => ({ ...way, engine: "the SDK", open: connectSdk })),
];

const asPerson: RequestHandler = async (method) => {
  if (method === "roots/list") return { roots: [{ uri: "file:///work", name: "work" }] };
  if (method === "sampling/createMessage")
    return { role: "assistant", model: "parrot", content: { type: "text", text: "a sampled answer" } };
  return { action: "accept", content: { name: "Ada" } };
};

describe.concurrent.each(legs)("$engine over $transport", (leg) => {
  // They share a session: one after the other.
  describe.sequential("the reference server", () => describeReference(leg));
});

function describeReference({ engine, open, serve, target, found }: Leg): void {
  const news = createNews();
  let server: EverythingServer | undefined;
  let session: Session;

  const call = async (name: string, given: JsonObject = {}, options?: RequestOptions) =>
    normaliseToolResult(await session.request("tools/call", { name, arguments: given }, options));
  const saying = (text: string) => ({ content: [{ type: "text", text: expect.stringContaining(text) as string }] });

  beforeAll(async () => {
    server = await serve?.();
    session = await open(target(server?.origin ?? ""), {
      clientInfo: { name: "real-servers-test", version: "1.0.0" },
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
      onRequest: asPerson,
      onNotification: news.take,
      times: { probe: 10_000 },
    });
  });
  afterAll(async () => {
    await session.close();
    await server?.[Symbol.asyncDispose]();
  });

  test("it is what it is", () => {
    expect(session).toMatchObject({
      era: "legacy",
      protocolVersion: "2025-11-25",
      serverInfo: { name: "mcp-servers/everything" },
      verdict: { era: "legacy", transport: found },
    });
    expect(session.instructions).toContain("Everything");
  });

  test("it lists all that it has", async () => {
    const kinds = ["tools", "prompts", "resources", "resourceTemplates"] as const;
    const lists = await Promise.all(kinds.map((kind) => listAll(session, kind)));
    expect(lists.map(({ items }) => items.length)).toEqual([17, 4, 7, 2]);
    expect(lists.flatMap(({ dropped, repaired }) => [...dropped, ...repaired])).toEqual([]);
  });

  test("it answers with text, with structure, with a picture", async () => {
    expect(await call("echo", { message: "hello" })).toMatchObject(saying("Echo: hello"));
    expect(await call("get-structured-content", { location: "Chicago" })).toMatchObject({
      structuredContent: { temperature: 36, humidity: 82 },
    });
    expect((await call("get-tiny-image")).content).toContainEqual(
      expect.objectContaining({ type: "image", mimeType: "image/png" }),
    );
  });

  test("it tells every step of its progress", async () => {
    const steps: Progress[] = [];
    const options = { onProgress: (step: Progress) => void steps.push(step) };
    await call("trigger-long-running-operation", { duration: 0.4, steps: 4 }, options);
    const told = steps.map(({ progress }) => progress);
    // The SDK may lose the last.
    expect(told).toEqual([1, 2, 3, 4].slice(0, engine === "the SDK" ? told.length : 4));
  });

  test("a long operation can be cancelled, or take too long, and the session goes on", async () => {
    const caller = new AbortController();
    const given = { duration: 600, steps: 6000 };
    const options = { signal: caller.signal, onProgress: () => caller.abort() };
    const cancelled = call("trigger-long-running-operation", given, options);
    await expect(cancelled).rejects.toMatchObject({ code: "cancelled" });
    const late = call("trigger-long-running-operation", given, { total: 300 });
    await expect(late).rejects.toMatchObject({ code: "timeout" });
    expect(await call("echo", { message: "still here" })).toMatchObject(saying("still here"));
  });

  test("it asks a person, a model, and for the roots", async () => {
    expect(JSON.stringify(await call("trigger-elicitation-request"))).toContain("Ada");
    expect(JSON.stringify(await call("trigger-sampling-request", { prompt: "?" }))).toContain("a sampled answer");
    expect(JSON.stringify(await call("get-roots-list"))).toContain("file:///work");
  });

  test("it tells of resources that changed, and of what it does", async () => {
    const [resource] = (await listAll(session, "resources")).items;
    const uri = resource?.uri;
    await session.request("resources/subscribe", { uri });
    await session.request("logging/setLevel", { level: "debug" });
    const updated = news.next("notifications/resources/updated");
    await call("toggle-subscriber-updates");
    expect(await updated).toEqual({ uri });
    const logged = news.next("notifications/message");
    await call("toggle-simulated-logging");
    expect(await logged).toMatchObject({ level: expect.any(String) as string });
    await call("toggle-subscriber-updates");
    await call("toggle-simulated-logging");
  });

  test("it serves resources, prompts, completions and pings", async () => {
    const uri = "demo://resource/dynamic/text/1";
    const completion = {
      ref: { type: "ref/prompt", name: "completable-prompt" },
      argument: { name: "department", value: "E" },
    };
    expect(await session.request("resources/read", { uri })).toMatchObject({ contents: [{ uri }] });
    expect(await session.request("prompts/get", { name: "simple-prompt" })).toHaveProperty("messages");
    expect(await session.request("completion/complete", completion)).toMatchObject({
      completion: { values: ["Engineering"] },
    });
    expect(await session.request("ping")).toEqual({});
  });

  test("it says what it does not know", async () => {
    await expect(session.request("no/such/method")).rejects.toMatchObject({ evidence: { rpc: { code: -32601 } } });
    expect(await call("no-such-tool").catch((error: unknown) => error)).toSatisfy(
      (outcome) => JSON.stringify(outcome).includes("-32602") || JSON.stringify(outcome).includes("not found"),
    );
  });
}
