/** The open consoles of a process. All consoles of one host share its state and the numbers of its events. */

import { type Clock, systemClock } from "@fairlead/core/clock";
import type { OpenedHost } from "@fairlead/core/host";
import type { ConsoleOptions, OpenedConsole } from "@fairlead/gateway/console-port";
import type { ConsoleSource } from "../console-source.ts";
import { ViewFrames } from "../views/view-frames.ts";
import { EventRing } from "./event-ring.ts";
import type { PageFiles } from "./page-files.ts";
import { PageListener } from "./page-listener.ts";

/** An address can be opened for this many milliseconds. */
const addressTime = 60_000;

export interface ConsolesOptions {
  /** Reads the files of the page. Called when the first console is opened. */
  readonly readFiles: () => PageFiles;
  readonly createSource: (host: OpenedHost) => ConsoleSource;
  readonly clock?: Pick<Clock, "after">;
}

/** What the consoles of one host share. */
interface ShownHost {
  readonly source: ConsoleSource;
  readonly ring: EventRing;
  readonly stopListening: () => void;
  consoles: number;
}

export class Consoles {
  readonly #readFiles: () => PageFiles;
  readonly #createSource: ConsolesOptions["createSource"];
  readonly #clock: Pick<Clock, "after">;
  readonly #shown = new Map<OpenedHost, ShownHost>();
  #files: PageFiles | undefined;

  constructor({ readFiles, createSource, clock = systemClock }: ConsolesOptions) {
    this.#readFiles = readFiles;
    this.#createSource = createSource;
    this.#clock = clock;
  }

  /**
   * Opens a console of a host. Close it before the host is disposed.
   *
   * @throws Error if the port is in use
   */
  async open(host: OpenedHost, { port }: ConsoleOptions): Promise<OpenedConsole> {
    this.#files ??= this.#readFiles();
    const { source, ring } = this.#enter(host);
    const { frames, listener } = await this.#listen(this.#files, port).catch(async (error: unknown) => {
      await this.#leave(host);
      throw error;
    });
    const page = listener.open({ kind: "console", path: "/", source, ring });
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      await Promise.all([listener.close(), frames.close()]);
      await this.#leave(host);
    };
    return {
      newAddress: () => page.newAddress(addressTime),
      close: () => (closing ??= close()),
    };
  }

  async #listen(files: PageFiles, port: number) {
    const frames = await ViewFrames.listen(this.#clock);
    try {
      return { frames, listener: await PageListener.listen({ files, clock: this.#clock, port, frames }) };
    } catch (error) {
      await frames.close();
      throw error;
    }
  }

  #enter(host: OpenedHost): ShownHost {
    const found = this.#shown.get(host);
    if (found !== undefined) {
      found.consoles += 1;
      return found;
    }
    const source = this.#createSource(host);
    const ring = new EventRing();
    const shown: ShownHost = { source, ring, stopListening: source.onEvent((event) => ring.add(event)), consoles: 1 };
    this.#shown.set(host, shown);
    return shown;
  }

  async #leave(host: OpenedHost): Promise<void> {
    const shown = this.#shown.get(host);
    if (shown === undefined) return;
    shown.consoles -= 1;
    if (shown.consoles > 0) return;
    this.#shown.delete(host);
    shown.stopListening();
    await shown.source[Symbol.asyncDispose]();
  }
}
