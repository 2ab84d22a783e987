/** The current settings of the running app. Reads them again after a change and reloads the host. */

import type { ServerChanges } from "@fairlead/core/events";
import { readText } from "@fairlead/core/files";
import type { Host } from "@fairlead/core/host";
import { limits } from "@fairlead/core/limits";
import { approvalsPath, type Configuration, readApprovals } from "@fairlead/core/trust";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context } from "../../shell/verb.ts";
import { captured } from "../captured.ts";

/** The app's settings: the last valid configuration. */
export class LiveSettings {
  readonly #context: Context;
  readonly #host: () => Pick<Host, "reload">;
  readonly #warn: (text: string) => void;
  readonly #approvalsAtStart: Promise<string | undefined>;
  #current: Configuration;
  #changes: Promise<unknown> = Promise.resolve();
  /** What the files contained when the app last read them. Empty before the first reload. */
  #texts: ReadonlyMap<string, string | undefined> = new Map();

  /**
   * @param configuration The configuration at the start.
   * @param warn Called with the problems in the settings. The app shows them, because stderr output would damage the
   * screen.
   */
  constructor(
    context: Context,
    configuration: Configuration,
    host: () => Pick<Host, "reload">,
    warn: (text: string) => void,
  ) {
    this.#context = context;
    this.#current = configuration;
    this.#host = host;
    this.#warn = warn;
    this.#approvalsAtStart = this.#contentOf(approvalsPath(configuration.locations.state));
  }

  get(): Configuration {
    return this.#current;
  }

  /** Reads the settings files again. The host calls this function when it reloads. */
  async read(): Promise<Configuration> {
    const { context: quiet, text } = captured(this.#context);
    const { settings, locations } = this.#current;
    const files = [...settings.files.map(({ file }) => file), locations.trustedFolders, approvalsPath(locations.state)];
    this.#texts = new Map(await Promise.all(files.map(async (file) => [file, await this.#contentOf(file)] as const)));
    const next = await configurationOf(quiet);
    if (text() !== "") this.#warn(text());
    // Keeps the last valid configuration while a settings file is invalid, as the host does.
    if (next.settings.files.every(({ state }) => state !== "broken")) this.#current = next;
    return next;
  }

  /** Makes the host read the settings again. Servers with an unchanged definition keep running. */
  reload(): Promise<ServerChanges> {
    return this.#host().reload();
  }

  /** Runs `work`, which changes settings files, then reloads the host. */
  change<T>(work: () => Promise<T>): Promise<T> {
    const change = this.#applyChange(work);
    this.#changes = Promise.allSettled([this.#changes, change]);
    return change;
  }

  async #applyChange<T>(work: () => Promise<T>): Promise<T> {
    const result = await work();
    await this.reload();
    return result;
  }

  /**
   * Whether another program has changed the file since the app last read it. `file`: settings, trusted folders or
   * approvals. Waits first for a running `change`.
   */
  async isChangedElsewhere(file: string): Promise<boolean> {
    const ended = this.#changes;
    await ended;
    const isFirst = this.#texts.size === 0 && file === approvalsPath(this.#current.locations.state);
    const before = isFirst ? await this.#approvalsAtStart : this.#texts.get(file);
    if (before === (await this.#contentOf(file))) return false;
    // If the app itself has started another change, that change may have written the file. Then checks again.
    return this.#changes === ended || this.isChangedElsewhere(file);
  }

  /** Returns the part of the file that concerns this workspace. The file of approvals also contains other workspaces. */
  async #contentOf(file: string): Promise<string | undefined> {
    const { state, root } = this.#current.locations;
    if (file !== approvalsPath(state)) return textOf(file);
    const approvals = await readApprovals(state).catch(() => undefined);
    return approvals && JSON.stringify([...(approvals.get(root) ?? [])]);
  }
}

async function textOf(file: string): Promise<string | undefined> {
  const read = await readText(file, limits.settingsBytes);
  return read.kind === "text" ? read.text : undefined;
}
