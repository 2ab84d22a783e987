/**
 * Answers a server's requests for roots, elicitation and sampling. Asks the user one question at a time, and only a
 * limited number of questions per minute.
 */

import { type JsonObject, type RequestHandler, WireError } from "@fairlead/wire";
import { objectOf } from "@fairlead/wire/json";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { unlessAborted } from "../unless-aborted.ts";
import { type Elicit, elicitationCapability, toElicitation, withDefaults } from "./elicitation.ts";

/** Answers a sampling request with the host's model. */
export type Sample = (request: SamplingRequest, signal: AbortSignal) => Promise<JsonObject>;

/** A sampling request from a server. `params` are not validated; `includeContext` is removed. */
export interface SamplingRequest {
  readonly serverName: string;
  readonly params: JsonObject;
}

/** A folder of the workspace (MCP root). */
export interface Root {
  readonly uri: string;
  readonly name: string;
}

/**
 * The data and functions that answer requests from servers. Fairlead declares a capability only if its member is
 * present.
 */
export interface Answerers {
  /** The trusted folders. If absent, Fairlead does not declare the capability `roots`. */
  readonly roots?: readonly Root[];
  readonly elicit?: Elicit;
  readonly sample?: Sample;
  /** Extensions that the program supports, such as views. They need no answers. */
  readonly extensions?: JsonObject;
  /** Called for an elicitation that Fairlead declines because its form or URL is invalid. */
  readonly onUnaskable?: (question: UnaskableQuestion) => void;
}

/** An elicitation that was declined without asking the user. Its texts come from the server and are not escaped. */
export interface UnaskableQuestion {
  readonly serverName: string;
  readonly message: string;
  /** The URL that the server wanted to open. */
  readonly url?: string;
}

/** Limits how often one server may ask the user. */
export interface RequestLimits {
  /** Maximum number of elicitation and sampling requests per minute. */
  readonly perMinute: number;
  readonly clock: Clock;
}

/** The capabilities that Fairlead declares, and the handler for the requests that servers may then send. */
export interface Answering {
  /** Extensions that only modern servers are told of. */
  readonly modernExtensions?: JsonObject;
  readonly capabilities: JsonObject;
  readonly onRequest: RequestHandler;
}

const minute = 60_000;
const rejected = -1;
const methodNotFound = -32601;
const tooMany = -32000;
const notAllowed = "sampling is not allowed for this server";

/** Returns the capabilities and the handler; undefined if there is nothing to declare. */
export function answerRequests(
  serverName: string,
  { roots, elicit, sample, onUnaskable, extensions }: Answerers,
  { perMinute, clock }: RequestLimits,
): Answering | undefined {
  if ([roots, elicit, sample, extensions].every((answerer) => answerer === undefined)) return undefined;
  const capabilities: JsonObject = {
    roots: roots && {},
    elicitation: elicit && elicitationCapability,
    sampling: sample && {},
    extensions,
  };
  let isOpen = false;
  let recent: readonly number[] = [];

  /**
   * Calls `ask`, which asks the user. Refuses while another question from this server is open, and after too many
   * questions in a minute.
   */
  async function oneAtATime<T>(what: string, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    const now = clock.now();
    recent = recent.filter((time) => now - time < minute);
    if (isOpen) throw rpcError(tooMany, `${what} refused: another question of this server is still open`);
    if (recent.length >= perMinute)
      throw rpcError(tooMany, `${what} refused: more than ${perMinute} questions in a minute`);
    recent = [...recent, now];
    isOpen = true;
    try {
      // Stops waiting when the request is cancelled, because `ask` may ignore the signal. Otherwise `isOpen` would stay
      // true.
      return await unlessAborted(ask(), signal, () => questionCancelled(serverName, what));
    } finally {
      isOpen = false;
    }
  }

  return {
    capabilities,
    async onRequest(method, params, signal) {
      if (method === "roots/list" && roots) return { roots: roots.map((root) => ({ ...root })) };
      if (method === "elicitation/create" && elicit) {
        const request = toElicitation(serverName, params);
        if (request === undefined) {
          onUnaskable?.(toUnaskable(serverName, params));
          return { action: "decline" };
        }
        return oneAtATime(method, signal, async () => withDefaults(request, await elicit(request, signal)));
      }
      if (method === "sampling/createMessage" && sample) {
        const { includeContext: _context, ...asked } = params;
        return oneAtATime(method, signal, () => sample({ serverName, params: asked }, signal)).catch(rejectDenied);
      }
      if (method === "sampling/createMessage") throw rpcError(rejected, notAllowed);
      throw rpcError(methodNotFound, `${method.slice(0, 100)} is not supported`);
    },
  };
}

function toUnaskable(serverName: string, { message, url }: JsonObject): UnaskableQuestion {
  const words = typeof message === "string" ? message : "";
  return { serverName, message: words, url: typeof url === "string" ? url : undefined };
}

function questionCancelled(serverName: string, what: string): HostError {
  return new HostError("cancelled", `"${serverName}" cancelled ${what}`, { serverName });
}

/** Replaces the reason of a denial, because the server must not learn why the user denied its request. */
function rejectDenied(error: unknown): never {
  throw error instanceof HostError && error.code === "denied" ? rpcError(rejected, notAllowed) : error;
}

function rpcError(code: number, message: string): Error {
  return new WireError("rpc", message, { rpc: { code } });
}

/** Values that a server suggests for an argument of a prompt or a variable of a resource template. */
export interface Completion {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore: boolean;
}

/** Reads the result of `completion/complete`. Leaves out invalid members. */
export function toCompletion(raw: unknown): Completion {
  const given = new Map<string, unknown>(Object.entries(objectOf(raw)));
  const [values, total] = [given.get("values"), given.get("total")];
  return {
    values: Array.isArray(values) ? values.filter((value): value is string => typeof value === "string") : [],
    total: typeof total === "number" ? total : undefined,
    hasMore: given.get("hasMore") === true,
  };
}
