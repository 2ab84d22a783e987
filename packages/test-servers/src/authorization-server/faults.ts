/** Faults for tests: an endpoint with a fault answers in this way instead of as usual. */

import type { ServerResponse } from "node:http";
import type { WebRequest } from "../web-server.ts";
import { type Answer, send } from "./answer.ts";

/**
 * A fault; any `WebReply` is one too. `usual` does the endpoint's usual work and returns its answer, but does not send
 * it.
 */
export type Fault = (request: WebRequest, response: ServerResponse, usual: () => Promise<Answer>) => void;

/** Nothing, for ever. */
export const silence: Fault = () => {};

/** The endpoint does its usual work, but the connection breaks before the answer. */
export const answerLost: Fault = (_request, response, usual) => void usual().then(() => response.destroy());

/** The endpoint answers as usual, but only after `event` has happened. */
export function after(event: Promise<unknown>): Fault {
  return (_request, response, usual) => void event.then(usual).then((answer) => send(response, answer));
}

/** The endpoint answers with a JSON document that is larger than so many bytes. */
export function oversized(bytes: number): Fault {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(`{"padding":"${"x".repeat(bytes)}"}`);
  };
}

/** Faults that wait for the next requests to their endpoint. */
export interface Faults<Endpoint, How> {
  readonly add: (endpoint: Endpoint, fault: How, times: number) => void;
  readonly take: (endpoint: Endpoint) => How | undefined;
}

export function createFaults<Endpoint, How>(): Faults<Endpoint, How> {
  const waiting: { readonly endpoint: Endpoint; readonly fault: How; times: number }[] = [];
  return {
    add: (endpoint, fault, times) => void waiting.push({ endpoint, fault, times }),
    take(endpoint) {
      const next = waiting.find((each) => each.endpoint === endpoint && each.times > 0);
      if (next) next.times -= 1;
      return next?.fault;
    },
  };
}
