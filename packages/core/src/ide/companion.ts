/**
 * A connection to the IDE's companion, which reports whether the IDE trusts its window's folders. The companion is an MCP
 * server over HTTP. Only its notification `ide/contextUpdate` is used.
 */

import { readFile } from "node:fs/promises";
import { connect, type JsonObject } from "@fairlead/wire";
import { member } from "@fairlead/wire/json";
import { clientInfo } from "../connect/client-info.ts";
import type { CompanionAddress } from "./find-companions.ts";

/** An open connection to a companion. */
export interface Companion {
  readonly address: CompanionAddress;
  /** What the companion has reported last. Undefined if it has said nothing about trust. */
  readonly isTrusted: () => boolean | undefined;
  /** Resolves with the first report, and when the connection ends. */
  readonly firstReport: Promise<void>;
  readonly close: () => Promise<void>;
}

/** What to do while the connection is open. */
export interface CompanionOptions {
  /** Aborts opening, and ends an open connection. */
  readonly signal: AbortSignal;
  /** Called for each report. */
  readonly onReport: () => void;
  /** Called once, when an open connection has ended. */
  readonly onEnd: () => void;
}

/** Bounds for a companion that misbehaves. A report has up to ten open files, with at most 16 kB of selected text each. */
const limits = {
  messageBytes: 1_048_576,
  unsolicitedMessageBytes: 1_048_576,
  unsolicitedRate: 1_048_576,
  unsolicitedBurst: 8_388_608,
  inboundRequests: 1,
  headerBytes: 16_384,
};
const times = { connect: 10_000, request: 10_000, send: 10_000, endGrace: 250 };

/**
 * Opens a connection, always to 127.0.0.1 and without a proxy. Rejects if the companion refuses it, or if another user
 * listens on its port.
 */
export async function openCompanion(
  address: CompanionAddress,
  { signal, onReport, onEnd }: CompanionOptions,
): Promise<Companion> {
  if (!(await isOwnPort(address.port))) throw new Error("this user does not listen on the companion's port");
  const streamEnd = new AbortController();
  const ending = AbortSignal.any([signal, streamEnd.signal]);
  let isTrusted: boolean | undefined;
  let announce = (): void => {};
  const firstReport = new Promise<void>((resolve) => {
    announce = resolve;
  });

  const session = await connect(
    {
      kind: "http",
      url: `http://127.0.0.1:${address.port}/mcp`,
      headers: address.token === undefined ? {} : { authorization: `Bearer ${address.token}` },
    },
    {
      clientInfo,
      era: "legacy",
      signal: ending,
      proxyFor: () => undefined,
      // A program that does not close its host must still be able to end.
      background: true,
      limits,
      times,
      onNotification(method, params) {
        if (method !== "ide/contextUpdate" || ending.aborted) return;
        isTrusted = trustIn(params);
        announce();
        onReport();
      },
      // Reports come on this stream only. Without it, the last report may be outdated.
      onStreamEnded: () => streamEnd.abort(),
    },
  );

  if (ending.aborted) {
    await session.close();
    throw new Error("the connection ended while it was opened");
  }
  let isOpen = true;
  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    isTrusted = undefined;
    announce();
    onEnd();
    void session.close();
  }
  ending.addEventListener("abort", end);
  void session.closed.then(end);
  return {
    address,
    isTrusted: () => isTrusted,
    firstReport,
    async close() {
      end();
      await session.close();
    },
  };
}

/** Reads `workspaceState.isTrusted`. Undefined if it is missing or not a boolean. */
function trustIn(params: JsonObject): boolean | undefined {
  const isTrusted = member(params["workspaceState"], "isTrusted");
  return typeof isTrusted === "boolean" ? isTrusted : undefined;
}

/**
 * Whether this user listens on the port. Otherwise another user of the machine could answer for an IDE that has ended.
 * True if the system does not tell.
 */
export async function isOwnPort(port: number, platform: NodeJS.Platform = process.platform): Promise<boolean> {
  const user = process.getuid?.();
  if (platform !== "linux" || user === undefined) return true;
  const table = await readFile("/proc/net/tcp", "latin1").catch(() => undefined);
  return table === undefined || listenersIn(table, port).includes(user);
}

/** Returns the ids of the users that listen on the port, in the format of `/proc/net/tcp`. */
export function listenersIn(table: string, port: number): readonly number[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  return table.split("\n").flatMap((line) => {
    const [, local, , state, , , , user] = line.trim().split(/\s+/);
    // 0A: the socket listens. The address is 127.0.0.1, or all addresses of the machine.
    const isListening = state === "0A" && (local === `0100007F:${hex}` || local === `00000000:${hex}`);
    return isListening ? [Number(user)] : [];
  });
}
