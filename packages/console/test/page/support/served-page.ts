/** The built page, served by the real door from a scripted source. */

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import { systemClock } from "@fairlead/core/clock";
import type { PagePath, SessionAnswer } from "../../../src/protocol/http.ts";
import { EventRing } from "../../../src/server/door/event-ring.ts";
import { readPageFiles } from "../../../src/server/door/page-files.ts";
import { PageListener } from "../../../src/server/door/page-listener.ts";
import type { ScriptedSource } from "./scripted-source.ts";

const built = new URL("../../../../cli/bundle/console/", import.meta.url);

/** Node tells of each request that one of its servers receives. */
const requestStart = "http.server.request.start";

export interface ServedPage extends AsyncDisposable {
  /** A new one-time address. */
  address(path?: PagePath, kind?: SessionAnswer["kind"]): string;
  readonly port: number;
  readonly ring: EventRing;
  /** Breaks the connections of the open streams of events, as a network would. */
  cut(): void;
  /** Closes the console while pages are open. */
  close(): Promise<void>;
}

export async function servePage(source: ScriptedSource, { folder = built, port = 0 } = {}): Promise<ServedPage> {
  const files = readPageFiles((name) => readFileSync(fileURLToPath(new URL(name, folder))));
  const listener = await PageListener.listen({ files, clock: systemClock, port });
  const ring = new EventRing();
  const stop = source.onEvent((event) => ring.add(event));
  const streams = new Set<IncomingMessage>();
  const notice = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.socket.localPort !== listener.port || request.url !== "/api/events") return;
    streams.add(request);
    request.socket.once("close", () => streams.delete(request));
  };
  subscribe(requestStart, notice);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    stop();
    unsubscribe(requestStart, notice);
    closing ??= listener.close();
    return closing;
  };
  return {
    port: listener.port,
    ring,
    address: (path = "/", kind = "console") => listener.open({ kind, path, source, ring }).newAddress(60_000),
    cut: () => {
      for (const { socket } of streams) socket.destroy();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
