/** What the user can do with a server in the app, such as start or sign in. The transcript shows the outcome. */

import { HostError } from "@fairlead/core/errors";
import type { ServerChanges, ServerState } from "@fairlead/core/events";
import { notConnectedError } from "@fairlead/core/server/server-state";
import { stateWords } from "../../output/servers/server-state.ts";
import { nameHint } from "../../shell/name-hint.ts";
import { typedHere } from "../slash/typed-here.ts";
import type { ServerVerb } from "../state/mcp-panel.ts";
import type { LiveSettings } from "./live-settings.ts";
import type { AppSession } from "./session.ts";

/** The actions on one server, by the name of their slash command, such as `start` for `/mcp start`. */
export interface ServerActions extends Readonly<Record<ServerVerb, (server: string) => Promise<void>>> {
  /** Signs in to a server and restarts it. With `device`, the user enters a code in a browser on another device. */
  readonly auth: (server: string, options?: { readonly device?: boolean }) => Promise<void>;
  /**
   * Reads the settings again and starts the servers. Adds a note that lists the changed servers and begins with
   * `reason`.
   */
  readonly reload: (reason?: () => string) => Promise<void>;
  /** @throws HostError `server_unknown` */
  readonly stateOf: (server: string) => ServerState;
}

/** The parts of the app that the actions use. */
export interface ServerActionsOptions {
  readonly session: Pick<AppSession, "host" | "note" | "show" | "fail">;
  readonly settings: LiveSettings;
  readonly runVerb: (...words: readonly string[]) => Promise<string>;
  /** Signs in over a separate connection. The host's own connection is not used. */
  readonly signIn: (server: string, device: boolean) => Promise<void>;
}

/** Creates the actions. All actions on one server throw HostError `server_unknown` for an unknown name. */
export function createServerActions({ session, settings, runVerb, signIn }: ServerActionsOptions): ServerActions {
  const { host, note, show, fail } = session;

  function stateOf(server: string): ServerState {
    const states = host.states();
    const found = states.find(({ name }) => name === server);
    if (found) return found;
    const hint = nameHint(
      server,
      states.map(({ name }) => name),
    );
    throw new HostError("server_unknown", `there is no server "${server}"${hint}`, { next: "/mcp list" });
  }

  function tell(server: string): void {
    const state = stateOf(server);
    if (state.status === "connected") note("info", `"${server}": ${stateWords(state)}`);
    else {
      const { message, next } = notConnectedError(state);
      note("warning", message, next === undefined ? undefined : typedHere(next));
    }
  }

  /** Runs `fairlead mcp enable` or `disable`, which writes the settings. So the change outlives the app. */
  async function setEnabled(server: string, verb: "enable" | "disable"): Promise<void> {
    note("info", await settings.change(() => runVerb("mcp", verb, server)));
  }

  return {
    stateOf,
    async start(server) {
      stateOf(server);
      await host.start({ servers: [server] });
      tell(server);
    },
    async stop(server) {
      stateOf(server);
      await host.stop([server]);
      note("info", `"${server}" is stopped; it starts again when it is needed`, `/mcp start ${server}`);
    },
    async restart(server) {
      stateOf(server);
      await host.restart([server]);
      tell(server);
    },
    async enable(server) {
      stateOf(server);
      await setEnabled(server, "enable");
      if (stateOf(server).status !== "disconnected") return;
      await host.start({ servers: [server] });
      tell(server);
    },
    async disable(server) {
      stateOf(server);
      await setEnabled(server, "disable");
    },
    async auth(server, { device = false } = {}) {
      stateOf(server);
      await signIn(server, device);
      await host.restart([server]);
      tell(server);
    },
    async test(server) {
      stateOf(server);
      show(`/mcp test ${server}`, await runVerb("mcp", "test", server));
    },
    async reload(reason) {
      const changes = changeWords(await settings.reload());
      note("info", `${reason === undefined ? "" : `${reason()} `}Settings reloaded. ${changes}`);
      host.start().catch(fail);
    },
  };
}

function changeWords({ added, removed, replaced }: ServerChanges): string {
  const parts = [
    { words: "Added", names: added },
    { words: "Changed", names: replaced },
    { words: "Removed", names: removed },
  ].flatMap(({ words, names }) => (names.length === 0 ? [] : `${words}: ${names.join(", ")}.`));
  return parts.length === 0 ? "No server has changed." : parts.join(" ");
}
