/**
 * The demo server: an MCP server in this process. Fairlead uses it through the interface `Session`, as it uses every
 * other server.
 */

import { setMaxListeners } from "node:events";
import { type JsonObject, type McpRequestOptions, type Progress, type Session, WireError } from "@fairlead/wire";
import { objectOf } from "@fairlead/wire/json";
import { type Clock, systemClock } from "../clock.ts";
import {
  audiences,
  getPrompt,
  knots,
  knotTemplate,
  listPrompts,
  listResources,
  listTemplates,
  promptName,
  readResource,
} from "./resources.ts";
import { callTool, listTools, type Task } from "./tools.ts";

type Handler = (params: JsonObject, task: Task) => JsonObject | Promise<JsonObject>;

const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["ping", () => ({})],
  ["tools/list", listTools],
  ["tools/call", callTool],
  ["prompts/list", listPrompts],
  ["prompts/get", getPrompt],
  ["resources/list", listResources],
  ["resources/templates/list", listTemplates],
  ["resources/read", readResource],
  ["completion/complete", completeDemo],
]);

/** Creates a session with the demo server. The clock is for timeouts and slow tools. */
export function createDemoSession({ clock = systemClock }: { readonly clock?: Clock } = {}): Session {
  const over = new AbortController();
  // Each running request adds a listener, and Node would print a warning from the eleventh listener on.
  setMaxListeners(0, over.signal);
  const closed = new Promise<undefined>((resolve) => {
    over.signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const throwIfOver = (): void => over.signal.throwIfAborted();

  async function request(
    method: string,
    params: JsonObject = {},
    options: McpRequestOptions = {},
  ): Promise<JsonObject> {
    const deadline = startDeadline(options, clock, over.signal);
    const progress = (step: Progress): void => {
      deadline.restart();
      options.onProgress?.(step);
    };
    try {
      deadline.signal.throwIfAborted();
      const handler = handlers.get(method);
      if (!handler) throw new WireError("rpc", `Method not found: ${method}`, { rpc: { code: -32601 } });
      const result = await handler(copy(params), { clock, signal: deadline.signal, progress });
      deadline.signal.throwIfAborted();
      return copy(result);
    } finally {
      deadline.clear();
    }
  }

  return {
    era: "legacy",
    protocolVersion: "2025-11-25",
    serverInfo: { name: "fairlead-demo", version: "1.0.0", title: "Fairlead's demo server" },
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
    instructions: "Tools, a prompt and resources to try a host with. Nothing here touches files or the network.",
    request,
    notify: async () => throwIfOver(),
    // The demo server sends no notifications and no requests.
    onNotification: () => () => {},
    onRequest: () => {},
    closed,
    async close() {
      over.abort(new WireError("closed", "the connection to the demo server is closed"));
    },
  };
}

/** Copies a message, as a transport would, so that client and server share no objects. */
function copy(message: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(message)) as JsonObject;
}

/**
 * Stops a request when it is cancelled, when its timeout expires, or when the session closes, whichever comes first.
 */
interface DemoDeadline {
  /** Aborted when the request must stop. The reason is a `WireError` that names the cause. */
  readonly signal: AbortSignal;
  /** Restarts the timeout after a progress notification. */
  restart(): void;
  /** Removes timers and listeners after the request. */
  clear(): void;
}

function startDeadline(options: McpRequestOptions, clock: Clock, over: AbortSignal): DemoDeadline {
  const stop = new AbortController();
  const caller = options.stop?.signal ?? options.signal;
  const cancel = (): void => stop.abort(new WireError("cancelled", "the request was cancelled"));
  const end = (): void => stop.abort(over.reason);
  const expireAfter = (milliseconds: number | undefined): (() => void) | undefined =>
    milliseconds === undefined
      ? undefined
      : clock.after(milliseconds, () => stop.abort(new WireError("timeout", `no answer within ${milliseconds} ms`)));

  if (over.aborted) end();
  else if (caller?.aborted) cancel();
  over.addEventListener("abort", end, { once: true });
  caller?.addEventListener("abort", cancel, { once: true });
  let callOffSilence = expireAfter(options.timeout);
  const callOffTotal = expireAfter(options.total);

  return {
    signal: stop.signal,
    restart() {
      callOffSilence?.();
      callOffSilence = expireAfter(options.timeout);
    },
    clear() {
      callOffSilence?.();
      callOffTotal?.();
      over.removeEventListener("abort", end);
      caller?.removeEventListener("abort", cancel);
    },
  };
}

/** The values that completion offers. A key names a prompt or URI template, and one of its arguments. */
const choices: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  [`ref/prompt ${promptName} knot`, [...knots.keys()]],
  [`ref/prompt ${promptName} audience`, audiences],
  [`ref/resource ${knotTemplate} name`, [...knots.keys()]],
]);

function completeDemo({ ref, argument }: JsonObject): JsonObject {
  const [type, name, uri] = fields(ref, ["type", "name", "uri"]);
  const [argumentName, value = ""] = fields(argument, ["name", "value"]);
  const candidates = choices.get(`${type} ${type === "ref/prompt" ? name : uri} ${argumentName}`);
  if (!candidates) throw new WireError("rpc", "No prompt or template has this argument", { rpc: { code: -32602 } });
  const values = candidates.filter((choice) => choice.startsWith(value));
  return { completion: { values, total: values.length, hasMore: false } };
}

function fields(value: unknown, names: readonly string[]): (string | undefined)[] {
  const entries = new Map<string, unknown>(Object.entries(objectOf(value)));
  return names.map((name) => {
    const field = entries.get(name);
    return typeof field === "string" ? field : undefined;
  });
}
