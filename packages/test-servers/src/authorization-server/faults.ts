/** What can happen on the way: an endpoint that is interrupted answers like this instead of as usual. */

import type { ServerResponse } from "node:http";
import type { WebRequest } from "../web-server.ts";
import { type Answer, send } from "./answer.ts";

/** Any `WebReply` is one; `usual` does what would have been done, and sends nothing. */
export type Fault = (request: WebRequest, response: ServerResponse, usual: () => Promise<Answer>) => void;

/** Nothing, for ever. */
export const silence: Fault = () => {};

/** All is done, and the answer never arrives. */
export const answerLost: Fault = (_request, response, usual) => void usual().then(() => response.destroy());

/** As usual, once this has happened. */
export function after(event: Promise<unknown>): Fault {
  return (_request, response, usual) => void event.then(usual).then((answer) => send(response, answer));
}

/** Starts like JSON, and does not end before so many bytes. */
export function oversized(bytes: number): Fault {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(`{"padding":"${"x".repeat(bytes)}"}`);
  };
}

/** Faults that wait for their endpoint. */
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
