/** The built page, served by the real door from a scripted source. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { systemClock } from "@fairlead/core/clock";
import type { PagePath, SessionAnswer } from "../../../src/protocol/http.ts";
import { EventRing } from "../../../src/server/door/event-ring.ts";
import { readPageFiles } from "../../../src/server/door/page-files.ts";
import { PageListener } from "../../../src/server/door/page-listener.ts";
import type { ScriptedSource } from "./scripted-source.ts";

const built = new URL("../../../../cli/bundle/console/", import.meta.url);

export interface ServedPage extends AsyncDisposable {
  /** A new one-time address. */
  address(path?: PagePath, kind?: SessionAnswer["kind"]): string;
  readonly port: number;
  readonly ring: EventRing;
}

export async function servePage(source: ScriptedSource, { folder = built, port = 0 } = {}): Promise<ServedPage> {
  const files = readPageFiles((name) => readFileSync(fileURLToPath(new URL(name, folder))));
  const listener = await PageListener.listen({ files, clock: systemClock, port });
  const ring = new EventRing();
  const stop = source.onEvent((event) => ring.add(event));
  return {
    port: listener.port,
    ring,
    address: (path = "/", kind = "console") => listener.open({ kind, path, source, ring }).newAddress(60_000),
    async [Symbol.asyncDispose]() {
      stop();
      await listener.close();
    },
  };
}
