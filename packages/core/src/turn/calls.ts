/** Runs all tool calls in one answer of the model in parallel. Returns the responses in the order of the calls. */

import type { JsonObject } from "@fairlead/wire";
import { isAcceptedInResponse } from "../normalise/content/media-type.ts";
import type { Content, FunctionCall, Part } from "../normalise/model-types.ts";
import { type CallAnswer, type CallDeps, runCall } from "./call.ts";
import { createConfirmCall } from "./confirm.ts";
import type { TurnEvent } from "./events.ts";
import { type CallResponse, responseContents, toResponse } from "./history.ts";
import type { ConversationState } from "./state.ts";

/** The tool calls in one answer of the model. `denied` counts the calls that were denied. */
export interface Round {
  /** Runs the calls. Ends when all calls have ended or the turn is stopped. */
  readonly run: () => AsyncGenerator<TurnEvent, void, undefined>;
  /** Returns the responses to all calls, for the model. If a call has not ended, it counts as stopped. */
  readonly end: () => readonly Content[];
  readonly denied: () => number;
}

/** What all calls of one answer share. */
export interface RoundOptions extends Pick<CallDeps, "state" | "host" | "signal"> {
  /** How many of these calls may run: the turn's limit minus its earlier calls. */
  readonly most: number;
}

const stopped = "The user stopped the turn before this call had ended.";
const tooMany = "The call did not run: there are too many calls in this turn.";

/** Prepares the tool calls in one answer of the model. */
export function openRound(calls: readonly FunctionCall[], { most, ...deps }: RoundOptions): Round {
  const { state, host, signal } = deps;
  const responses: (CallResponse | undefined)[] = calls.map(() => undefined);
  let denied = 0;
  let isOver = false;

  function answer(at: number, { response, media, status, server }: CallAnswer): void {
    /*
     * Ignores the result of a call that ends after the turn. The model already got the response that the call was
     * stopped.
     */
    if (isOver) return;
    const isInside = ({ inlineData }: Part): boolean => isAcceptedInResponse(inlineData?.mimeType ?? "");
    const part = toResponse(calls[at] ?? {}, response, media.filter(isInside));
    const beside = media.filter((each) => !isInside(each));
    responses[at] = { part, beside };
    if (status === "denied") denied += 1;
    state.record({ type: "response", index: at, part, server, beside: beside.length > 0 ? beside : undefined });
  }

  return {
    async *run() {
      const queue = createEventQueue();
      const ask = createConfirmCall(host, signal);
      const running = calls.map(async ({ id, name = "", args = {} }, at) => {
        const request = { id: uniqueId(id, state), name, args: args as JsonObject };
        if (at >= most) {
          return answer(at, refuse(request, queue.push));
        }
        const stop = new AbortController();
        const stopCall = (): void => stop.abort();
        state.stopCalls.add(stopCall);
        const either = AbortSignal.any([signal, stop.signal]);
        answer(at, await runCall(request, { ...deps, ask, emit: queue.push, signal: either }));
        state.stopCalls.delete(stopCall);
      });
      void Promise.all(running).then(queue.end);
      yield* queue;
    },
    end() {
      for (const [at, given] of responses.entries())
        if (given === undefined) answer(at, { response: { error: stopped }, media: [], status: "cancelled" });
      isOver = true;
      return responseContents(calls, responses);
    },
    denied: () => denied,
  };
}

function refuse(request: { id: string; name: string; args: JsonObject }, emit: (event: TurnEvent) => void): CallAnswer {
  const error = { code: "busy", message: "too many calls in one turn" } as const;
  emit({ type: "call", ...request, status: "error", error });
  return { response: { error: tooMany }, media: [], status: "error" };
}

/** Returns the API's id, or a new id if there is none or another call of the conversation already has it. */
function uniqueId(given: string | undefined, { callIds }: ConversationState): string {
  let id = given ?? "";
  for (let count = callIds.size + 1; id === "" || callIds.has(id); count += 1) id = `call-${count}`;
  callIds.add(id);
  return id;
}

interface EventQueue extends AsyncIterable<TurnEvent> {
  readonly push: (event: TurnEvent) => void;
  /** Ends the queue. Events that are already in it are still delivered. */
  readonly end: () => void;
}

/** Creates a queue between running calls, which add events, and one reader. */
export function createEventQueue(): EventQueue {
  const waiting: TurnEvent[] = [];
  let isOver = false;
  let wake = (): void => {};

  return {
    push(event) {
      /*
       * A server may report progress faster than the caller reads events, so the queue keeps only the latest progress
       * of a call.
       */
      const last = waiting.at(-1);
      if (event.type === "progress" && last?.type === "progress" && last.id === event.id) waiting.pop();
      waiting.push(event);
      wake();
    },
    end() {
      isOver = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) yield next;
        if (isOver) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
