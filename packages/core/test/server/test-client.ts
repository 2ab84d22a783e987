/** A client of one server, and an opening that the test brings to its end. */

import { WireError } from "@fairlead/wire";
import type { OpenedSession, OpenOptions } from "../../src/connect/open-session.ts";
import type { ServerState } from "../../src/events.ts";
import { Connection, type ConnectionOptions } from "../../src/server/connection.ts";

export const dead = new WireError("exited", "the server exited with code 3", { exitCode: 3, stderr: "out of rope" });

export function testClient(open: ConnectionOptions["open"], options: Partial<ConnectionOptions> = {}) {
  const seen: ServerState[] = [];
  const client = new Connection({
    definition: { name: "s", excludeTools: [] },
    open,
    connectTimeout: 1000,
    onState: (state) => seen.push(state),
    ...options,
  });
  return { client, seen, statuses: () => seen.map(({ status }) => status) };
}

/** An opening that the test brings to its end. */
export function heldOpening() {
  let resolve: (session: OpenedSession) => void = () => {};
  let options: OpenOptions | undefined;
  const opened = new Promise<OpenedSession>((settle) => {
    resolve = settle;
  });
  return {
    open: (given: OpenOptions) => {
      options = given;
      return opened;
    },
    isCalledOff: () => options?.signal.aborted,
    resolve,
  };
}
