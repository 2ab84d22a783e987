/** Answers clients from a recording, in place of the recorded server. */

import type { JsonObject, WireErrorCode, WireEvidence } from "@fairlead/wire";
import { isObject, listOf, member, objectOf, stringOf } from "@fairlead/wire/json";
import type { RequestId, ServedClient, ServedRequest, ServedSession } from "@fairlead/wire/serve";
import { clip } from "@fairlead/wire/text";
import { abortOf, type Clock, sleep } from "../clock.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { createMatcher, indexScripts, type Matcher, type MatchOptions, targetOf } from "./match.ts";
import type { Recording } from "./recording.ts";
import { type Script, type ScriptStep, scriptsOf, subscriptionKey } from "./scripts.ts";

/** Creates an error that `@fairlead/wire` sends to the client as a JSON-RPC error. */
type CreateWireError = (code: WireErrorCode, message: string, evidence: WireEvidence) => Error;

/** How exactly requests must match, and how fast the answers come. */
export interface PlayerOptions extends MatchOptions {
  /**
   * The delay before each message of the server, in milliseconds. `recorded` means the same delay as in the recording.
   * Default: 0.
   */
  readonly timing?: number | "recorded";
  readonly clock: Clock;
  /**
   * Creates a `WireError`. The caller passes this function, so that this file need not load all of `@fairlead/wire`.
   */
  readonly createError: CreateWireError;
}

/** A request that the recording does not answer. */
export interface Unmatched {
  readonly method: string;
  readonly target: string;
  readonly params: JsonObject;
}

/** Serves one recording to any number of clients. */
export interface Player {
  /** The protocol eras (legacy or modern) in which the recorded server answered. */
  readonly eras: readonly ("legacy" | "modern")[];
  /**
   * Creates a session for one client. Modern requests do not show which client sent them, so all modern clients share
   * one sequence of recorded answers.
   */
  session(client: ServedClient, era?: "legacy" | "modern"): ServedSession;
  /**
   * Returns the last recorded input schema of a tool. Modern requests repeat some arguments as HTTP headers, and the
   * schema says which.
   */
  readonly schemaOf: (tool: string) => unknown;
  /** Clients' requests to which the recording has no answer. Equal requests are listed once. */
  unmatched(): readonly Unmatched[];
}

const methodNotFound = -32601;
const invalidParams = -32602;
const internalError = -32603;
const headerMismatch = -32020;
const unsupportedVersion = -32022;
/** The request with which a client finds out the protocol version. */
const probe = "server/discover";
/** The method whose requests stay open until the client ends them. */
const openEnded = "subscriptions/listen";
const shownRequests = 3;
const shownCharacters = 200;

/** For each script of a recorded subscription: the client that has the subscription open, and the id of its request. */
type Subscriptions = Map<Script, { readonly client: ServedClient; readonly id: RequestId }>;

/** Creates a player. All its clients use the same recording. */
export function createPlayer(recording: Recording, options: PlayerOptions): Player {
  /*
   * Does not replay errors about wrong HTTP headers, because the HTTP listener itself checks the headers of live
   * requests.
   */
  const scripts = scriptsOf(recording).filter(({ steps }) => !steps.some(isHeaderMismatch));
  const schemas = schemasOf(scripts);
  const index = indexScripts(scripts);
  const shared = createMatcher(index, options);
  const subscriptions: Subscriptions = new Map();
  const missing = new Map<string, Unmatched>();

  function notRecorded(method: string, params: JsonObject): Error {
    const target = targetOf(params);
    const { _meta: _, ...asked } = params;
    missing.set(`${method} ${canonicalJson(asked)}`, { method, target, params: asked });
    const recorded = index.byMethod.get(method) ?? [];
    const data = { reason: "not_recorded" };
    if (recorded.length === 0)
      return options.createError("rpc", `${method} was never recorded`, { rpc: { code: methodNotFound, data } });
    const same = recorded.filter((script) => targetOf(script.params) === target);
    const what = target === "" ? method : `${method} of ${target}`;
    const others = same.length > 0 ? same.map(argumentsOf) : recorded.map((script) => targetOf(script.params));
    const shown = [...new Set(others)].slice(0, shownRequests).join("; ");
    const message = `${what} with ${argumentsOf({ params })} was never recorded; recorded: ${shown}`;
    return options.createError("rpc", message, { rpc: { code: invalidParams, data } });
  }

  return {
    eras: (["legacy", "modern"] as const).filter((era) =>
      scripts.some(
        era === "modern" ? isAnsweredModern : ({ method, steps }) => method === "initialize" && hasResult(steps),
      ),
    ),
    session(client, era = "legacy") {
      const matcher = era === "modern" ? shared : createMatcher(index, options);
      return createPlayedSession(client, matcher, subscriptions, notRecorded, options);
    },
    schemaOf: (tool) => schemas.get(tool),
    unmatched: () => [...missing.values()],
  };
}

function createPlayedSession(
  client: ServedClient,
  matcher: Matcher,
  subscriptions: Subscriptions,
  notRecorded: (method: string, params: JsonObject) => Error,
  options: PlayerOptions,
): ServedSession {
  const { timing = 0, clock, createError } = options;
  const gone = new AbortController();
  let capabilities: JsonObject = {};
  void client.closed.then(() => gone.abort());

  async function wait({ after }: ScriptStep, signal: AbortSignal): Promise<void> {
    const milliseconds = timing === "recorded" ? after : timing;
    if (milliseconds > 0) await sleep(clock, milliseconds, signal);
  }

  async function notify(step: ScriptStep & { kind: "notification" }, given: Trigger | undefined): Promise<void> {
    const { method, params, about } = step;
    if (about.kind === "subscription") {
      const open = subscriptions.get(about.script);
      const meta = { ...objectOf(params["_meta"]), [subscriptionKey]: open?.id };
      await open?.client.notify(method, { ...params, _meta: meta }, open.id);
    } else if (about.kind === "none") await client.notify(method, params, given?.id);
    else {
      const progressToken = member(member(given?.params, "_meta"), "progressToken");
      if (progressToken !== undefined) await client.notify(method, { ...params, progressToken }, given?.id);
    }
  }

  /** Replays the recorded steps up to the answer. Returns the answer and the steps that follow it. */
  async function play(
    steps: readonly ScriptStep[],
    given: Trigger | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly answer: ScriptStep | undefined; readonly rest: readonly ScriptStep[] }> {
    for (const [at, step] of steps.entries()) {
      await wait(step, signal);
      if (step.kind === "result" || step.kind === "error") return { answer: step, rest: steps.slice(at + 1) };
      if (step.kind === "notification") await notify(step, given);
      else if (canAnswer(step.method))
        // Ignores this client's answer, because the messages after it are fixed by the recording.
        await client.request(step.method, step.params, { about: given?.id, signal }).catch(() => undefined);
    }
    return { answer: undefined, rest: [] };
  }

  /** Whether the client has declared the capability that the server's recorded request needs. */
  function canAnswer(method: string): boolean {
    const [feature = ""] = method.split("/");
    return feature === "ping" || isObject(capabilities[feature]);
  }

  async function answerOf(script: Script, given: Trigger, signal: AbortSignal): Promise<JsonObject> {
    const { answer, rest } = await play(script.steps, given, signal);
    // The recorded steps after the answer run when the response has been sent.
    setImmediate(() => void play(rest, undefined, gone.signal).catch(() => undefined));
    if (answer?.kind === "result") return answer.result;
    if (answer?.kind === "error") throw recordedError(answer.error, createError);
    if (script.isCancelled || script.method === openEnded) return abortOf(signal);
    const message = `the recording ends before the answer to ${script.method}`;
    throw createError("rpc", message, { rpc: { code: internalError, data: { reason: "not_recorded" } } });
  }

  return {
    async request(method, params, { id, signal }: ServedRequest) {
      if (method === "initialize") capabilities = objectOf(params["capabilities"]);
      const script = matcher.find(method, params);
      if (script === undefined) throw notRecorded(method, params);
      if (method === openEnded) subscriptions.set(script, { client, id });
      try {
        return await answerOf(script, { id, params }, signal);
      } finally {
        if (subscriptions.get(script)?.client === client) subscriptions.delete(script);
      }
    },
    notification(method, params) {
      const script = matcher.find(method, params);
      if (script !== undefined) void play(script.steps, undefined, gone.signal).catch(() => undefined);
    },
  };
}

/** The client's request that is being answered. */
interface Trigger {
  readonly id: RequestId;
  readonly params: JsonObject;
}

function hasResult(steps: readonly ScriptStep[]): boolean {
  return steps.some(({ kind }) => kind === "result");
}

/**
 * Whether the script shows that the recorded server speaks a modern protocol version. A result shows it. An error shows
 * it too, with two exceptions: an error in response to `server/discover`, and an error code that a server without
 * modern versions may send.
 */
function isAnsweredModern({ isModern, method, steps }: Script): boolean {
  if (!isModern) return false;
  return hasResult(steps) || (method !== probe && steps.some((step) => step.kind === "error" && isKnownVersion(step)));
}

function isKnownVersion({ error }: ScriptStep & { readonly kind: "error" }): boolean {
  return error["code"] !== unsupportedVersion && error["code"] !== methodNotFound;
}

function isHeaderMismatch(step: ScriptStep): boolean {
  return step.kind === "error" && step.error["code"] === headerMismatch;
}

function schemasOf(scripts: readonly Script[]): ReadonlyMap<unknown, unknown> {
  const lists = scripts.filter(({ method }) => method === "tools/list").flatMap(({ steps }) => steps);
  const tools = lists.flatMap((step) => (step.kind === "result" ? listOf(step.result["tools"]) : []));
  return new Map(tools.map((tool) => [member(tool, "name"), member(tool, "inputSchema")]));
}

function argumentsOf({ params }: Pick<Script, "params">): string {
  const { _meta: _, name: _name, arguments: given = {}, ...rest } = params;
  return clip(canonicalJson(Object.keys(rest).length > 0 ? rest : given), shownCharacters);
}

function recordedError({ code, message, data }: JsonObject, createError: CreateWireError): Error {
  const rpc = { code: typeof code === "number" ? code : internalError, data };
  return createError("rpc", stringOf(message) ?? "", { rpc });
}
