/** A conversation of the modern era: nothing is remembered between requests, so each one says everything. */

import { WireError } from "../errors.ts";
import { type ParamHeader, paramHeadersOf, paramHeaderValues } from "../http/param-headers.ts";
import type { ExchangeOptions } from "../rpc/exchange.ts";
import type { Rpc } from "../rpc/rpc.ts";
import { withTimeLeft } from "../rpc/time-left.ts";
import type { JsonObject, McpRequestOptions, RequestHandler, Session } from "../session.ts";
import { isObject, objectOf } from "../shapes/json.ts";
import type { ConnectOptions, NegotiatedProtocol, WireLimits } from "../target.ts";
import type { Greeting } from "./handshake.ts";
import { withInputRounds } from "./input-rounds.ts";
import { listenMethod, slowMethods } from "./methods.ts";
import { envelope, modernErrors, standardHeaders } from "./modern-envelope.ts";
import { followModernTask } from "./modern-task.ts";
import { commonVersion, modernVersions } from "./versions.ts";

/** As many pages as are read to find the marks of one tool, and as many tools as are remembered. */
const mostPages = 100;
const mostTools = 10_000;

const tasksExtension = "io.modelcontextprotocol/tasks";

export interface ModernSessionOptions {
  readonly rpc: Rpc;
  readonly greeting: Greeting;
  readonly transport: "stdio" | "http";
  readonly options: Pick<ConnectOptions, "clientInfo" | "capabilities" | "onRequest">;
  readonly limits: WireLimits;
}

export function createModernSession({ rpc, greeting, transport, options, limits }: ModernSessionOptions): Session {
  const verdict: NegotiatedProtocol = { era: "modern", transport };
  /** Input schemas as listed, and what was found marked in those that were called. */
  const schemas = new Map<string, unknown>();
  const marks = new Map<string, readonly ParamHeader[]>();
  const hasTasks = isObject(objectOf(greeting.capabilities["extensions"])[tasksExtension]);
  const life = new AbortController();
  let handler: RequestHandler | undefined = options.onRequest;
  let meta: JsonObject = {};

  function speak(version: string): void {
    meta = envelope(version, hasTasks ? { ...options, capabilities: withTasks(options.capabilities) } : options);
    rpc.setProtocolVersion(version);
  }

  function headersOf(method: string, params: JsonObject): Record<string, string> {
    const headers = standardHeaders(method, params);
    if (method !== "tools/call" || typeof params["name"] !== "string") return headers;
    return { ...headers, ...paramHeaderValues(marksOf(params["name"]), params["arguments"]) };
  }

  function marksOf(tool: string): readonly ParamHeader[] {
    const known = marks.get(tool);
    if (known !== undefined) return known;
    const found = paramHeadersOf(schemas.get(tool));
    const headers = found.valid ? found.headers : [];
    marks.set(tool, headers);
    return headers;
  }

  const follow: ExchangeOptions["follow"] = (answer, open) => {
    if (answer["resultType"] !== "task") return undefined;
    const { onNotification } = rpc;
    const { after } = rpc.clock;
    return followModernTask(answer, { open, ask: send, onNotification, after, step: "tools/call", limits, handler });
  };

  async function send(method: string, params: JsonObject | undefined, given: ExchangeOptions): Promise<JsonObject> {
    const exchange: ExchangeOptions = {
      ...given,
      meta,
      token: slowMethods.has(method),
      // No other request may be answered with a task.
      follow: method === "tools/call" ? follow : undefined,
      ...(transport === "http" && { headers: headersOf(method, params ?? {}) }),
      ...(method === listenMethod && { openEnded: true, timeout: given.timeout ?? Number.POSITIVE_INFINITY }),
    };
    const result = await rpc.request(method, params, exchange);
    if (method === "tools/list" && transport === "http") remember(result["tools"]);
    return result;
  }

  /** Sends it again, once, if the server says what was wrong with the first time. */
  async function sendOrCorrect(method: string, params: JsonObject | undefined, given: McpRequestOptions) {
    const began = rpc.clock.now();
    const left = (): McpRequestOptions => withTimeLeft(given, rpc.clock.now() - began, method);
    try {
      return await send(method, params, given);
    } catch (error) {
      const isAnswer = error instanceof WireError && error.evidence.step === method;
      const rpcError = isAnswer ? error.evidence.rpc : undefined;
      if (rpcError?.code === modernErrors.unsupportedVersion) {
        const version = commonVersion(modernVersions, objectOf(rpcError.data)["supported"]);
        if (version === undefined) throw error;
        speak(version);
      } else if (rpcError?.code === modernErrors.headerMismatch && method === "tools/call") {
        await learnSchemas(left);
      } else {
        throw error;
      }
      return send(method, params, left());
    }
  }

  function remember(tools: unknown): void {
    marks.clear();
    for (const tool of Array.isArray(tools) ? tools : []) {
      const name = isObject(tool) ? tool["name"] : undefined;
      if (typeof name === "string" && (schemas.has(name) || schemas.size < mostTools))
        schemas.set(name, tool["inputSchema"]);
    }
  }

  async function learnSchemas(left: () => McpRequestOptions): Promise<void> {
    let cursor: unknown;
    for (let page = 0; page < mostPages; page += 1) {
      // Progress of the list is not progress of the call.
      const { onProgress: _, ...options } = left();
      const { nextCursor } = await send("tools/list", cursor === undefined ? undefined : { cursor }, options);
      if (typeof nextCursor !== "string" || nextCursor === "" || nextCursor === cursor) return;
      cursor = nextCursor;
    }
  }

  speak(greeting.protocolVersion);
  rpc.ignoreRequests();
  void rpc.closed.then((cause) => life.abort(cause ?? new WireError("closed", "the connection is closed")));
  return {
    era: "modern",
    ...greeting,
    protocol: verdict,
    request: (method, params, given = {}) =>
      withInputRounds({
        method,
        options: given,
        limits,
        handler,
        now: rpc.clock.now,
        life: life.signal,
        ask: (added, left) => sendOrCorrect(method, added === undefined ? params : again(params, added), left),
      }),
    notify: (method, params) =>
      rpc.notify(method, params, transport === "http" ? { headers: standardHeaders(method, params) } : undefined),
    onNotification: rpc.onNotification,
    onRequest(given) {
      handler = given;
    },
    closed: rpc.closed,
    close: rpc.close,
  };
}

/** Said only to servers that know the extension: it adds to every message. */
function withTasks(capabilities: JsonObject = {}): JsonObject {
  return { ...capabilities, extensions: { ...objectOf(capabilities["extensions"]), [tasksExtension]: {} } };
}

/** The same request with the answers to the server's last questions, and none to earlier ones. */
function again(params: JsonObject | undefined, added: JsonObject): JsonObject {
  return { ...params, inputResponses: undefined, requestState: undefined, ...added };
}
