/** Faults for tests that change how an API's answer arrives. */

import type { ServerResponse } from "node:http";
import type { WebRequest } from "../web-server.ts";
import { type Reply, sendPieces, sendReply } from "./reply.ts";

/**
 * A fault. `usual` creates the usual answer, but does not send it. A `Fault` of the authorization server can be used
 * here too.
 */
export type ModelFault = (request: WebRequest, response: ServerResponse, usual: () => Promise<Reply>) => void;

/** Sends this reply instead, without asking the model. */
export function answered(reply: Reply): ModelFault {
  return (_request, response) => void sendReply(response, reply);
}

/** Sends the usual answer as soon as this promise has resolved. */
export function heldUntil(moment: Promise<unknown>): ModelFault {
  return (_request, response, usual) => void moment.then(usual).then((reply) => sendReply(response, reply));
}

/** Sends this many events, then breaks the connection. */
export function cutAfter(events: number): ModelFault {
  return (_request, response, usual) =>
    void usual()
      .then((reply) => sendPieces(response, reply, reply.pieces.slice(0, events)))
      .then(() => response.destroy());
}

/** Sends this many events, then ends the answer as if it were complete. */
export function endsAfter(events: number): ModelFault {
  return (_request, response, usual) =>
    void usual()
      .then((reply) => sendPieces(response, reply, reply.pieces.slice(0, events)))
      .then(() => response.end());
}

/** Sends this many events, then this error as a further event. */
export function failsAfter(events: number, error: Reply): ModelFault {
  return (_request, response, usual) =>
    void usual()
      .then((reply) => sendPieces(response, reply, [...reply.pieces.slice(0, events), `data: ${error.body}\n\n`]))
      .then(() => response.end());
}

/** Sends this many events, then nothing more, and keeps the connection open. */
export function stallsAfter(events: number): ModelFault {
  return (_request, response, usual) =>
    void usual().then((reply) => sendPieces(response, reply, reply.pieces.slice(0, events)));
}
