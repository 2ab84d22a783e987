/** The console that `/console` opens. It is open as long as the app runs. */

import { refuseNested } from "@fairlead/core/trust";
import type { Console, RedirectFile } from "../../gateway/open-console.ts";
import type { Context } from "../../shell/verb.ts";
import { captured } from "../captured.ts";
import type { AppSession } from "./session.ts";

interface OpenedConsole extends Console {
  readonly file: RedirectFile;
  /** Whether its process has ended. */
  isOver: boolean;
}

export class AppConsole {
  readonly #session: Pick<AppSession, "host" | "note" | "show">;
  readonly #context: Context;
  #opening: Promise<OpenedConsole> | undefined;

  constructor(session: Pick<AppSession, "host" | "note" | "show">, context: Context) {
    this.#session = session;
    this.#context = context;
  }

  /** Opens a page of the console in the browser. */
  async show(): Promise<void> {
    refuseNested(this.#context.io.env);
    const before = await this.#opening?.catch(() => undefined);
    if (before !== undefined && !before.isOver) return this.#showAt(await before.newAddress(), before);
    this.#opening = this.#open();
    const opened = await this.#opening;
    return this.#showAt(opened.address, opened);
  }

  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    await Promise.all([opened?.close(), opened?.file.remove()]);
  }

  async #showAt(address: string, { file }: OpenedConsole): Promise<void> {
    const { openInBrowser } = await import("../../gateway/open-console.ts");
    const { host, note, show } = this.#session;
    if (await openInBrowser(address, file, host.configuration))
      note("info", "The console opens in your browser. It closes with this app.");
    else
      show("/console", `No browser could be started. Open this address on this machine within a minute:\n${address}`);
  }

  async #open(): Promise<OpenedConsole> {
    const { openConsole, redirectFile } = await import("../../gateway/open-console.ts");
    // Only the app may write to the terminal.
    const { context, text } = captured(this.#context);
    const { host, note } = this.#session;
    const opened = await openConsole(0, host.configuration, context);
    if (text() !== "") note("warning", text());
    const found: OpenedConsole = { ...opened, file: redirectFile(host.configuration), isOver: false };
    void opened.closed.then(() => {
      found.isOver = true;
    });
    return found;
  }
}
