/** What can happen to an answer on its way. */

import type { ServerResponse } from "node:http";
import type { WebRequest } from "../web-server.ts";
import { type Reply, sendPieces, sendReply } from "./reply.ts";

/** `usual` makes the answer that there would have been, and sends nothing; a `Fault` of the authorization server is one too. */
export type ModelFault = (request: WebRequest, response: ServerResponse, usual: () => Promise<Reply>) => void;

/** This instead; the model is not asked. */
export function answered(reply: Reply): ModelFault {
  return (_request, response) => void sendReply(response, reply);
}

/** So many events, and then the connection is gone. */
export function cutAfter(events: number): ModelFault {
  return (_request, response, usual) =>
    void usual()
      .then((reply) => sendPieces(response, reply, reply.pieces.slice(0, events)))
      .then(() => response.destroy());
}

/** So many events, and then the answer ends as if that were all. */
export function endsAfter(events: number): ModelFault {
  return (_request, response, usual) =>
    void usual()
      .then((reply) => sendPieces(response, reply, reply.pieces.slice(0, events)))
      .then(() => response.end());
}

/** So many events, then this error as one more of them. */
export function failsAfter(events: number, error: Reply): ModelFault {
  return (_request, response, usual) =>
    void usual()
      .then((reply) => sendPieces(response, reply, [...reply.pieces.slice(0, events), `data: ${error.body}\n\n`]))
      .then(() => response.end());
}

/** So many events, and then nothing, for ever. */
export function stallsAfter(events: number): ModelFault {
  return (_request, response, usual) =>
    void usual().then((reply) => sendPieces(response, reply, reply.pieces.slice(0, events)));
}
