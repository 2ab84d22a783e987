/** What the user can do with a server in the app, such as start or sign in. The transcript shows the outcome. */

import { HostError } from "@fairlead/core/errors";
import type { ServerChanges, ServerState } from "@fairlead/core/events";
import { notConnectedError } from "@fairlead/core/server";
import { stateWords } from "../../output/servers/server-state.ts";
import { nameHint } from "../../shell/verb.ts";
import { typedHere } from "../slash/typed-here.ts";
import type { ServerVerb } from "../state/mcp-panel.ts";
import type { AppSession } from "./session.ts";

/** The parts of the app that the actions use. */
interface ServerActionsOptions {
  readonly session: Pick<AppSession, "host" | "note" | "show" | "fail">;
  readonly runVerb: (...words: readonly string[]) => Promise<string>;
  /** Signs in over a separate connection. The host's own connection is not used. */
  readonly signIn: (server: string, device: boolean) => Promise<void>;
}

/** The actions on one server, by the name of their slash command. For an unknown name, all throw `server_unknown`. */
export class ServerActions implements Readonly<Record<ServerVerb, (server: string) => Promise<void>>> {
  readonly #app: ServerActionsOptions;

  constructor(app: ServerActionsOptions) {
    this.#app = app;
  }

  /** @throws HostError `server_unknown` */
  stateOf(server: string): ServerState {
    const states = this.#app.session.host.states();
    const found = states.find(({ name }) => name === server);
    if (found) return found;
    const names = states.map(({ name }) => name);
    const message = `there is no server "${server}"${nameHint(server, names)}`;
    throw new HostError("server_unknown", message, { next: "/mcp list" });
  }

  async start(server: string): Promise<void> {
    this.stateOf(server);
    await this.#app.session.host.start({ servers: [server] });
    this.#tell(server);
  }

  async stop(server: string): Promise<void> {
    const { host, note } = this.#app.session;
    this.stateOf(server);
    await host.stop([server]);
    note("info", `"${server}" is stopped; it starts again when it is needed`, `/mcp start ${server}`);
  }

  async restart(server: string): Promise<void> {
    this.stateOf(server);
    await this.#app.session.host.restart([server]);
    this.#tell(server);
  }

  async enable(server: string): Promise<void> {
    await this.#setEnabled(server, "enable");
    if (this.stateOf(server).status === "disconnected") await this.start(server);
  }

  async disable(server: string): Promise<void> {
    await this.#setEnabled(server, "disable");
  }

  /** Signs in to a server and restarts it. With `device`, the user enters a code in a browser on another device. */
  async auth(server: string, { device = false }: { readonly device?: boolean } = {}): Promise<void> {
    this.stateOf(server);
    await this.#app.signIn(server, device);
    await this.restart(server);
  }

  async test(server: string): Promise<void> {
    this.stateOf(server);
    this.#app.session.show(`/mcp test ${server}`, await this.#app.runVerb("mcp", "test", server));
  }

  /**
   * Reads the settings again and starts the servers. Adds a note that lists the changed servers and begins with
   * `reason`.
   */
  async reload(reason?: () => string): Promise<void> {
    const { host, note, fail } = this.#app.session;
    const changes = changeWords(await host.reload());
    note("info", `${reason === undefined ? "" : `${reason()} `}Settings reloaded. ${changes}`);
    host.start().catch(fail);
  }

  #tell(server: string): void {
    const { note } = this.#app.session;
    const state = this.stateOf(server);
    if (state.status === "connected") note("info", `"${server}": ${stateWords(state)}`);
    else {
      const { message, next } = notConnectedError(state);
      note("warning", message, next === undefined ? undefined : typedHere(next));
    }
  }

  /** Runs `fairlead mcp enable` or `disable`, which writes the settings. So the change outlives the app. */
  async #setEnabled(server: string, verb: "enable" | "disable"): Promise<void> {
    const { session, runVerb } = this.#app;
    this.stateOf(server);
    session.note("info", await session.host.changeSettings(() => runVerb("mcp", verb, server)));
  }
}

function changeWords({ added, removed, replaced }: ServerChanges): string {
  const parts = [
    { words: "Added", names: added },
    { words: "Changed", names: replaced },
    { words: "Removed", names: removed },
  ].flatMap(({ words, names }) => (names.length === 0 ? [] : `${words}: ${names.join(", ")}.`));
  return parts.length === 0 ? "No server has changed." : parts.join(" ");
}
