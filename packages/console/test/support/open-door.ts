/** An open console of a scripted host, without a browser. */

import { type Clock, systemClock } from "@fairlead/core/clock";
import { EventRing } from "../../src/server/door/event-ring.ts";
import { type OpenPage, PageListener } from "../../src/server/door/page-listener.ts";
import { builtPage } from "./built-page.ts";
import { ScriptedSource } from "./scripted-source.ts";

export interface OpenDoor extends AsyncDisposable {
  readonly source: ScriptedSource;
  readonly ring: EventRing;
  readonly listener: PageListener;
  readonly page: OpenPage;
  readonly origin: string;
  /** A new one-time address of the page. */
  address(): string;
  close(): Promise<void>;
}

export interface DoorOptions {
  readonly source?: ScriptedSource;
  readonly ring?: EventRing;
  readonly clock?: Pick<Clock, "after">;
}

export async function openDoor(options: DoorOptions = {}): Promise<OpenDoor> {
  const { source = new ScriptedSource(), ring = new EventRing(), clock = systemClock } = options;
  const listener = await PageListener.listen({ files: builtPage(), clock, port: 0 });
  const page = listener.open({ kind: "console", path: "/", source, ring });
  const stopListening = source.onEvent((event) => ring.add(event));
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    stopListening();
    closing ??= listener.close();
    return closing;
  };
  return {
    source,
    ring,
    listener,
    page,
    origin: `http://127.0.0.1:${listener.port}`,
    address: () => page.newAddress(60_000),
    close,
    [Symbol.asyncDispose]: close,
  };
}
