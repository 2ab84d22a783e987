/**
 * The `Session` of the modern protocol era, in which the server keeps no state and every request contains all that the
 * server needs.
 */

import { WireError } from "../errors.ts";
import { type ParamHeader, paramHeadersOf, paramHeaderValues } from "../http/param-headers.ts";
import { fixedLimits } from "../limits.ts";
import type { ExchangeOptions } from "../rpc/exchange.ts";
import type { Rpc } from "../rpc/rpc.ts";
import { replyError } from "../rpc/rpc-errors.ts";
import type { JsonObject, McpRequestOptions, NegotiatedProtocol, RequestHandler, Session } from "../session.ts";
import { isObject, objectOf } from "../shapes/json.ts";
import type { ConnectOptions, WireLimits } from "../target.ts";
import type { Greeting } from "./handshake.ts";
import { answersTo, withInputRounds, withTimeLeft } from "./input-rounds.ts";
import { commonVersion, envelope, listenMethod, modernErrors, modernVersions, standardHeaders } from "./protocol.ts";
import { followTask, type TaskPorts, taskCancelledError } from "./task.ts";

const logLevelKey = "io.modelcontextprotocol/logLevel";
const tasksExtension = "io.modelcontextprotocol/tasks";

/** Creates the session after a successful `server/discover`. */
export function createModernSession(
  rpc: Rpc,
  greeting: Greeting,
  transport: "stdio" | "http",
  options: Pick<ConnectOptions, "clientInfo" | "capabilities" | "modernExtensions" | "onRequest">,
  limits: WireLimits,
): Session {
  const protocol: NegotiatedProtocol = { era: "modern", transport };
  const schemas = new Map<string, unknown>();
  const headersByTool = new Map<string, readonly ParamHeader[]>();
  const hasTasks = isObject(objectOf(greeting.capabilities["extensions"])[tasksExtension]);
  const connection = new AbortController();
  let handler: RequestHandler | undefined = options.onRequest;
  let version = "";
  let meta: JsonObject = {};

  function setVersion(agreed: string): void {
    version = agreed;
    meta = metaWith(withExtensions(options.capabilities, options.modernExtensions));
    rpc.setProtocolVersion(agreed);
  }

  function metaWith(capabilities: JsonObject | undefined, tasks?: McpRequestOptions["tasks"]): JsonObject {
    const { clientInfo } = options;
    const isFollowed = hasTasks && tasks !== "caller";
    return envelope(version, { clientInfo, capabilities: isFollowed ? withTasks(capabilities) : (capabilities ?? {}) });
  }

  function metaOf({ capabilities, logLevel, tasks }: McpRequestOptions): JsonObject {
    const own = capabilities === undefined ? meta : metaWith(capabilities, tasks);
    return logLevel === undefined ? own : { ...own, [logLevelKey]: logLevel };
  }

  function headersOf(method: string, params: JsonObject): Record<string, string> {
    const headers = standardHeaders(method, params);
    if (method !== "tools/call" || typeof params["name"] !== "string") return headers;
    return { ...headers, ...paramHeaderValues(headersOfTool(params["name"]), params["arguments"]) };
  }

  function headersOfTool(tool: string): readonly ParamHeader[] {
    const cached = headersByTool.get(tool);
    if (cached !== undefined) return cached;
    const found = paramHeadersOf(schemas.get(tool));
    const headers = found.valid ? found.headers : [];
    headersByTool.set(tool, headers);
    return headers;
  }

  const follow: ExchangeOptions["follow"] = (answer, open, own) => {
    if (answer["resultType"] !== "task") return undefined;
    return followModernTask(answer, { rpc, open, ask: send }, limits, own ?? handler);
  };

  async function send(method: string, params: JsonObject | undefined, given: ExchangeOptions): Promise<JsonObject> {
    const isListen = method === listenMethod;
    const exchange: ExchangeOptions = {
      ...given,
      envelope: metaOf(given),
      // The protocol allows a task only as the response to a tool call.
      follow: method === "tools/call" && given.tasks !== "caller" ? follow : undefined,
      headers: transport === "http" ? headersOf(method, params ?? {}) : undefined,
      openEnded: isListen,
      timeout: given.timeout ?? (isListen ? Number.POSITIVE_INFINITY : undefined),
    };
    const result = await rpc.request(method, params, exchange);
    if (method === "tools/list" && transport === "http") cacheSchemas(result["tools"]);
    return result;
  }

  /** Sends a request. Sends it once more if the server rejects its protocol version or its headers. */
  async function sendOrCorrect(method: string, params: JsonObject | undefined, given: McpRequestOptions) {
    const began = rpc.clock.now();
    const left = (): McpRequestOptions => withTimeLeft(given, rpc.clock.now() - began, method);
    try {
      return await send(method, params, given);
    } catch (error) {
      const isAnswer = error instanceof WireError && error.evidence.step === method;
      const rpcError = isAnswer ? error.evidence.rpc : undefined;
      if (rpcError?.code === modernErrors.unsupportedVersion) {
        const agreed = commonVersion(modernVersions, objectOf(rpcError.data)["supported"]);
        if (agreed === undefined) throw error;
        setVersion(agreed);
      } else if (rpcError?.code === modernErrors.headerMismatch && method === "tools/call") {
        await listSchemas(left);
      } else {
        throw error;
      }
      return send(method, params, sentBefore(left()));
    }
  }

  function cacheSchemas(tools: unknown): void {
    headersByTool.clear();
    for (const tool of Array.isArray(tools) ? tools : []) {
      const name = isObject(tool) ? tool["name"] : undefined;
      if (typeof name === "string" && (schemas.has(name) || schemas.size < fixedLimits.items))
        schemas.set(name, tool["inputSchema"]);
    }
  }

  async function listSchemas(left: () => McpRequestOptions): Promise<void> {
    let cursor: unknown;
    for (let page = 0; page < fixedLimits.pages; page += 1) {
      // The tool call's signal and timeouts also apply to this request. Its other options do not.
      const { signal, stop, timeout, total } = left();
      const params = cursor === undefined ? undefined : { cursor };
      const { nextCursor } = await send("tools/list", params, { signal, stop, timeout, total });
      if (typeof nextCursor !== "string" || nextCursor === "" || nextCursor === cursor) return;
      cursor = nextCursor;
    }
  }

  setVersion(greeting.protocolVersion);
  rpc.ignoreRequests();
  void rpc.closed.then((cause) => connection.abort(cause ?? new WireError("closed", "the connection is closed")));
  return {
    era: "modern",
    ...greeting,
    protocol,
    request: (method, params, given = {}) =>
      given.input === "caller"
        ? sendOrCorrect(method, params, given)
        : withInputRounds({
            method,
            options: given,
            limits,
            handler: given.answer ?? handler,
            now: () => rpc.clock.now(),
            connectionSignal: connection.signal,
            ask: (added, left) =>
              added === undefined
                ? sendOrCorrect(method, params, left)
                : sendOrCorrect(method, again(params, added), sentBefore(left)),
          }),
    notify: (method, params) =>
      rpc.notify(method, params, transport === "http" ? { headers: standardHeaders(method, params) } : undefined),
    onNotification: rpc.onNotification,
    flushNotifications: rpc.flushNotifications,
    onRequest(given) {
      handler = given;
    },
    closed: rpc.closed,
    close: rpc.close,
  };
}

/** Removes `beforeSend`, because it must run only before the first sending of a request. */
function sentBefore(options: McpRequestOptions): McpRequestOptions {
  if (options.beforeSend === undefined) return options;
  const { beforeSend: _, ...rest } = options;
  return rest;
}

/**
 * Declares that the client supports tasks. Capabilities are part of every request, so this is done only for servers
 * with tasks.
 */
function withTasks(capabilities: JsonObject | undefined): JsonObject {
  return withExtensions(capabilities, { [tasksExtension]: {} });
}

function withExtensions(capabilities: JsonObject = {}, more: JsonObject = {}): JsonObject {
  if (Object.keys(more).length === 0) return capabilities;
  return { ...capabilities, extensions: { ...objectOf(capabilities["extensions"]), ...more } };
}

/** Removes the answers of earlier rounds, so that the request holds only the latest answers. */
function again(params: JsonObject | undefined, added: JsonObject): JsonObject {
  return { ...params, inputResponses: undefined, requestState: undefined, ...added };
}

/** Waits for a task's result and answers the task's input requests. */
async function followModernTask(
  begun: JsonObject,
  ports: Pick<TaskPorts, "rpc" | "open" | "ask">,
  limits: WireLimits,
  handler: RequestHandler | undefined,
): Promise<JsonObject> {
  const { open, ask } = ports;
  const { taskId } = begun;
  const step = "tools/call";
  if (typeof taskId !== "string") throw new WireError("bad_message", "the server's task has no id", { step });
  const answered = new Set<string>();
  let rounds = 0;

  /** Answers each input request only once. The server repeats an input request until it has processed the answer. */
  async function answer(inputRequests: unknown): Promise<void> {
    const isNew = ([key]: [string, unknown]): boolean => !answered.has(key);
    const questions = isObject(inputRequests) ? Object.entries(inputRequests).filter(isNew) : [];
    if (questions.length === 0) return;
    rounds += 1;
    if (rounds > limits.inputRounds)
      throw new WireError("bad_message", `the server asked for input more than ${limits.inputRounds} times`, { step });
    const { signal } = open;
    open.pause();
    const answers = answersTo(Object.fromEntries(questions), { step, limits, handler, signal });
    const inputResponses = await answers.finally(open.resume);
    for (const [key] of questions) answered.add(key);
    await ask("tasks/update", { taskId, inputResponses }, { signal, timeout: Number.POSITIVE_INFINITY });
  }

  return followTask(taskId, begun, {
    ...ports,
    statusMethod: "notifications/tasks",
    async conclude(task) {
      const { status, result, error, inputRequests } = task;
      if (status === "input_required") await answer(inputRequests);
      if (status === "completed" && isObject(result)) return { ...result, resultType: "complete" };
      if (status === "completed") throw new WireError("bad_message", "the task completed without a result", { step });
      if (status === "failed") throw replyError(error, "tasks/get");
      if (status === "cancelled") throw taskCancelledError(task, step);
      return undefined;
    },
  });
}
