/** An HTTP server for tests that breaks its response streams where the call says, and counts how often its tool ran. */

import type { ServerResponse } from "node:http";
import { type WebRequest, type WebServer, webServer } from "./web-server.ts";

/**
 * How a stream breaks. `reset`: the connection is reset. `end`: the stream ends as if it were complete. `torn`: in the
 * middle of the next event.
 */
export type CutHow = "reset" | "end" | "torn";

/** The arguments of a call of the tool `count`. */
interface CutCall {
  readonly key: string;
  /**
   * The number of events after which the response stream and each resumed stream break, in order. Later streams do not
   * break.
   */
  readonly cuts: readonly number[];
  readonly how: CutHow;
}

export interface CuttingServer extends AsyncDisposable {
  readonly url: string;
  /** How often the tool really ran, by the key of the call. */
  readonly effects: ReadonlyMap<string, number>;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly arguments?: CutCall; readonly _meta?: { readonly progressToken?: number } };
}

interface Stream {
  readonly events: readonly string[];
  readonly cuts: number[];
  readonly how: CutHow;
}

/** How many events come before the response itself. */
export const eventsBeforeAnswer = 3;

/**
 * Starts the server. `legacy`: a client that reconnects with the last event id gets the missed events. `modern`: missed
 * events are lost.
 */
export async function cuttingServer(era: "legacy" | "modern"): Promise<CuttingServer> {
  const effects = new Map<string, number>();
  const streams = new Map<string, Stream>();

  function call(message: Message, response: ServerResponse): void {
    const { key, cuts, how } = message.params?.arguments ?? { key: "", cuts: [], how: "end" };
    effects.set(key, (effects.get(key) ?? 0) + 1);
    const said = [...progressOf(message), answer(message, { content: [{ type: "text", text: `did ${key}` }] })];
    const events = said.map((data, index) => (era === "legacy" ? `id: ${key}/${index + 1}\nretry: 1\n` : "") + data);
    const stream = { events, cuts: [...cuts], how };
    streams.set(key, stream);
    send(response, stream, 0);
  }

  function goOn(request: WebRequest, response: ServerResponse): void {
    const [key = "", sent] = String(request.headers["last-event-id"] ?? "").split("/");
    const stream = streams.get(key);
    if (stream) send(response, stream, Number(sent));
    else response.writeHead(405).end();
  }

  const server: WebServer = await webServer((request, response) => {
    if (request.method === "GET") return goOn(request, response);
    if (request.method !== "POST") return void response.writeHead(200).end();
    const message = JSON.parse(request.body) as Message;
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method === "tools/call") return call(message, response);
    const result = results[era].get(message.method ?? "");
    response.writeHead(200, { "content-type": "application/json" });
    response.end(result ? data(message, { result }) : data(message, { error: { code: -32601, message: "no" } }));
  });
  return {
    url: `${server.origin}/mcp`,
    effects,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function send(response: ServerResponse, { events, cuts, how }: Stream, sent: number): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  const cut = cuts.shift();
  const now = events.slice(sent, cut === undefined ? undefined : sent + cut);
  const next = events[sent + now.length];
  if (cut === undefined || next === undefined || how === "end") return void response.end(now.join(""));
  const last = how === "torn" ? next.slice(0, next.length / 2) : ": cut\n\n";
  response.write(now.join("") + last, () => response.destroy());
}

const tools = [{ name: "count", inputSchema: { type: "object" } }];
const about = { capabilities: { tools: {} }, serverInfo: { name: "cutting", version: "1.0.0" } };
const results = {
  legacy: new Map<string, object>([
    ["initialize", { protocolVersion: "2025-11-25", ...about }],
    ["tools/list", { tools }],
    ["ping", {}],
  ]),
  modern: new Map<string, object>([
    ["server/discover", { resultType: "complete", supportedVersions: ["2026-07-28"], ...about }],
    ["tools/list", { resultType: "complete", tools }],
  ]),
};

function progressOf({ params }: Message): readonly string[] {
  const progressToken = params?._meta?.progressToken;
  return Array.from({ length: eventsBeforeAnswer }, (_, progress) =>
    event({ method: "notifications/progress", params: { progressToken, progress } }),
  );
}

function answer({ id }: Message, result: object): string {
  return event({ id, result: { resultType: "complete", ...result } });
}

function event(message: object): string {
  return `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
}

function data({ id }: Message, body: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, ...body });
}
