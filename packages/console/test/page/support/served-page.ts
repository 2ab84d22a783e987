/** The built page, served by the real door from a scripted source. */

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import { systemClock } from "@fairlead/core/clock";
import type { PagePath, SessionAnswer } from "../../../src/protocol/http.ts";
import type { ConsoleSource } from "../../../src/server/console-source.ts";
import { EventRing } from "../../../src/server/door/event-ring.ts";
import { readPageFiles } from "../../../src/server/door/page-files.ts";
import { type OpenPage, PageListener } from "../../../src/server/door/page-listener.ts";

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
  /** Waits until this many streams of events are open. */
  untilStreams(count: number): Promise<void>;
  /** Closes the console while pages are open. */
  close(): Promise<void>;
}

export async function servePage(source: ConsoleSource, { folder = built, port = 0 } = {}): Promise<ServedPage> {
  const files = readPageFiles((name) => readFileSync(fileURLToPath(new URL(name, folder))));
  const listener = await PageListener.listen({ files, clock: systemClock, port });
  const ring = new EventRing();
  const stop = source.onEvent((event) => ring.add(event));
  const pages = new Map<PagePath, OpenPage>();
  const pageAt = (path: PagePath, kind: SessionAnswer["kind"]): OpenPage => {
    const page = pages.get(path) ?? listener.open({ kind, path, source, ring });
    pages.set(path, page);
    return page;
  };
  const streams = new Set<IncomingMessage>();
  const changes = new Set<() => void>();
  const notice = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.socket.localPort !== listener.port || request.url !== "/api/events") return;
    streams.add(request);
    for (const change of changes) change();
    request.socket.once("close", () => {
      streams.delete(request);
      for (const change of changes) change();
    });
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
    address: (path = "/", kind = "console") => pageAt(path, kind).newAddress(60_000),
    cut: () => {
      for (const { socket } of streams) socket.destroy();
    },
    untilStreams: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (streams.size !== count) return;
          changes.delete(look);
          resolve();
        };
        changes.add(look);
        look();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
