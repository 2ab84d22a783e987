/** The reference server on all its transports: everything that it can do works, with our engine as with the official client. */

import { type EverythingServer, everythingServer, realServer, scaled } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, listAll, normaliseToolResult } from "../src/index.ts";
import type { JsonObject, McpRequestOptions, Progress, RequestHandler, Session } from "../src/session.ts";
import type { ConnectOptions, Target } from "../src/target.ts";
import { createNews } from "./contract/news.ts";
import { connectSdk } from "./oracle/sdk-session.ts";

interface Leg {
  readonly engine: string;
  readonly open: (target: Target, options: ConnectOptions) => Promise<Session>;
  readonly transport: string;
  readonly target: () => Target;
  /** The transport that it turns out to be. */
  readonly found: "stdio" | "http" | "sse";
  /** The SDK's client follows none. */
  readonly hasTasks: boolean;
}

type Way = Pick<Leg, "transport" | "target" | "found">;

/** On the web all legs share a server; over stdio each session has its own. */
let http: EverythingServer;
let sse: EverythingServer;
beforeAll(async () => {
  [http, sse] = await Promise.all([everythingServer("streamableHttp"), everythingServer("sse")]);
});
afterAll(async () => {
  await Promise.all([http, sse].map((server) => server[Symbol.asyncDispose]()));
});

const { PATH = "" } = process.env;
const onStdio: Target = { kind: "stdio", ...realServer("everything", "stdio"), env: { PATH }, cwd: process.cwd() };

const ways: readonly Way[] = [
  { transport: "stdio", target: () => onStdio, found: "stdio" },
  { transport: "streamable HTTP", target: () => ({ kind: "http", url: http.url, headers: {} }), found: "http" },
  { transport: "SSE", target: () => ({ kind: "sse", url: sse.url, headers: {} }), found: "sse" },
];
const fallbacks: readonly Way[] = [
  {
    transport: "whatever turns out to be streamable HTTP",
    target: () => ({ kind: "http-or-sse", url: http.url, headers: {} }),
    found: "http",
  },
  {
    transport: "whatever turns out to be SSE",
    target: () => ({ kind: "http-or-sse", url: sse.url, headers: {} }),
    found: "sse",
  },
];
const legs: readonly Leg[] = [
  ...ways.map((way) => ({ ...way, engine: "our engine", open: connect, hasTasks: true })),
  ...fallbacks.map((way) => ({ ...way, engine: "our engine", open: connect, hasTasks: false })),
  ...ways
    .slice(0, scaled(ways.length))
    .map((way) => ({ ...way, engine: "the SDK", open: connectSdk, hasTasks: false })),
];

const asPerson: RequestHandler = async (method, params) => {
  if (method === "roots/list") return { roots: [{ uri: "file:///work", name: "work" }] };
  if (method === "sampling/createMessage")
    return { role: "assistant", model: "parrot", content: { type: "text", text: "a sampled answer" } };
  const isResearch = JSON.stringify(params).includes("interpretation");
  return { action: "accept", content: isResearch ? { interpretation: "historical" } : { name: "Ada" } };
};

describe.concurrent.each(legs)("$engine over $transport", (leg) => {
  // They share a session: one after the other.
  describe.sequential("the reference server", () => describeReference(leg));
});

function describeReference({ engine, open, target, found, hasTasks }: Leg): void {
  const news = createNews();
  const sent: unknown[] = [];
  const asked: string[] = [];
  let session: Session;

  const call = async (name: string, given: JsonObject = {}, options?: McpRequestOptions) =>
    normaliseToolResult(await session.request("tools/call", { name, arguments: given }, options));
  const saying = (text: string) => ({ content: [{ type: "text", text: expect.stringContaining(text) as string }] });

  beforeAll(async () => {
    session = await open(target(), {
      clientInfo: { name: "real-servers-test", version: "1.0.0" },
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
      onRequest: (method, ...rest) => {
        asked.push(method);
        return asPerson(method, ...rest);
      },
      onMessage: (direction, { method }) => direction === "sent" && sent.push(method),
      onNotification: news.take,
      times: { probe: 10_000 },
    });
  });
  afterAll(() => session.close());

  test("it is what it is", () => {
    expect(session).toMatchObject({
      era: "legacy",
      protocolVersion: "2025-11-25",
      serverInfo: { name: "mcp-servers/everything" },
      protocol: { era: "legacy", transport: found },
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
    await call("trigger-long-running-operation", { duration: 0.1, steps: 4 }, options);
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
    const late = call("trigger-long-running-operation", given, { total: 100 });
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

  if (hasTasks)
    test("a task tells what it does, asks when it must, and comes to its result; another is called off", async () => {
      const [sentBefore, askedBefore] = [sent.length, asked.length];
      const research = (topic: string) => ({ name: "simulate-research-query", arguments: { topic, ambiguous: true } });
      const words: (string | undefined)[] = [];
      const result = await session.request("tools/call", research("ropes"), {
        asTask: true,
        onProgress: ({ message }) => words.push(message),
      });
      expect(JSON.stringify(result["content"])).toContain("ropes (historical)");
      // It asks for the roots when it pleases.
      expect(asked.slice(askedBefore).filter((method) => method !== "roots/list")).toEqual(["elicitation/create"]);
      expect(words).toContain("Gathering sources...");
      expect(words).toContain("Generating report...");
      const stop = new AbortController();
      const given = { asTask: true, signal: stop.signal, onProgress: () => stop.abort() };
      const stopped = session.request("tools/call", research("knots"), given);
      await expect(stopped).rejects.toMatchObject({ code: "cancelled" });
      expect(sent.slice(sentBefore)).toContain("tasks/cancel");
      expect(sent.slice(sentBefore)).not.toContain("notifications/cancelled");
    });

  test("it says what it does not know", async () => {
    await expect(session.request("no/such/method")).rejects.toMatchObject({ evidence: { rpc: { code: -32601 } } });
    expect(await call("no-such-tool").catch((error: unknown) => error)).toSatisfy(
      (outcome) => JSON.stringify(outcome).includes("-32602") || JSON.stringify(outcome).includes("not found"),
    );
  });
}
