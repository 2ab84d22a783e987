/** An HTTP response that writes into memory, so that a test sees every byte of it. */

import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Writable } from "node:stream";

export interface WrittenResponse {
  readonly response: ServerResponse;
  /** Everything that was written so far: the status line, the headers and the body. */
  readonly text: () => string;
}

/** @param isStuck Whether the client reads nothing, so that everything waits. */
export function writtenResponse(isStuck = false): WrittenResponse {
  let text = "";
  const socket = new Writable({
    decodeStrings: false,
    write(chunk: Buffer | string, _encoding, done) {
      text += String(chunk);
      if (!isStuck) done();
    },
  });
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.sendDate = false;
  response.shouldKeepAlive = false;
  response.useChunkedEncodingByDefault = false;
  // A response only writes to its socket.
  response.assignSocket(socket as Socket);
  return { response, text: () => text };
}
