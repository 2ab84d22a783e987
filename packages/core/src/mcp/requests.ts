/** What a server may ask of us: folders, a person's answer, a model's answer. Declared only where someone answers, one question at a time, and not too often. */

import type { JsonObject, RequestHandler } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { type Elicit, elicitationCapability, toElicitation, withDefaults } from "./elicitation.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** Asks the person's model; the server's request as it came, but without a wish to see the conversation. */
export type Sample = (request: SamplingRequest, signal: AbortSignal) => Promise<JsonObject>;

/** A server's request for an answer of the host's model (sampling). `params` are the server's own: raw. */
export interface SamplingRequest {
  readonly serverName: string;
  readonly params: JsonObject;
}

export interface Root {
  readonly uri: string;
  readonly name: string;
}

export interface Answerers {
  /** Folders that the person works in and trusts; none: nothing is said about folders. */
  readonly roots?: readonly Root[];
  readonly elicit?: Elicit;
  readonly sample?: Sample;
  /** Told of a question that is declined without being put to anyone. */
  readonly onUnaskable?: (question: UnaskableQuestion) => void;
}

/** Raw: the server's own words. */
export interface UnaskableQuestion {
  readonly serverName: string;
  readonly message: string;
  /** What it wanted to be opened, if it was that. */
  readonly url?: string;
}

export interface RequestLimits {
  /** Questions of one server to the person or the model in a minute. */
  readonly perMinute: number;
  readonly clock: Clock;
}

export interface Answering {
  readonly capabilities: JsonObject;
  readonly onRequest: RequestHandler;
}

const minute = 60_000;
const rejected = -1;
const methodNotFound = -32601;
const tooMany = -32000;
const notAllowed = "sampling is not allowed here";

/** Undefined where nobody answers anything. */
export function answerRequests(
  serverName: string,
  { roots, elicit, sample, onUnaskable }: Answerers,
  { perMinute, clock }: RequestLimits,
): Answering | undefined {
  const capabilities: JsonObject = {
    ...(roots && { roots: {} }),
    ...(elicit && { elicitation: elicitationCapability }),
    ...(sample && { sampling: {} }),
  };
  if (Object.keys(capabilities).length === 0) return undefined;
  let isOpen = false;
  let recent: readonly number[] = [];

  /** A dialog at a time: who asks more, or again and again, is refused without bothering anyone. */
  async function oneAtATime<T>(what: string, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    const now = clock.now();
    recent = recent.filter((time) => now - time < minute);
    if (isOpen) throw await rpcError(tooMany, `${what} is refused: another question of this server is still open`);
    if (recent.length >= perMinute)
      throw await rpcError(tooMany, `${what} is refused: more than ${perMinute} questions in a minute`);
    recent = [...recent, now];
    isOpen = true;
    try {
      // Who answers need not listen to the signal: once nobody waits for it, the server's next question is not kept back.
      return await unlessAborted(ask(), signal, () => unwanted(serverName, what));
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
      if (method === "sampling/createMessage") throw await rpcError(rejected, notAllowed);
      throw await rpcError(methodNotFound, `${method.slice(0, 100)} is not supported`);
    },
  };
}

function toUnaskable(serverName: string, { message, url }: JsonObject): UnaskableQuestion {
  const words = typeof message === "string" ? message : "";
  return { serverName, message: words, ...(typeof url === "string" && { url }) };
}

function unwanted(serverName: string, what: string): HostError {
  return new HostError("cancelled", `"${serverName}" does not wait for the answer to ${what} any more`, { serverName });
}

/** Why the person does not want it is none of the server's business. */
async function rejectDenied(error: unknown): Promise<never> {
  throw error instanceof HostError && error.code === "denied" ? await rpcError(rejected, notAllowed) : error;
}

async function rpcError(code: number, message: string): Promise<Error> {
  const { WireError } = await import("@fairlead/wire");
  return new WireError("rpc", message, { rpc: { code } });
}
