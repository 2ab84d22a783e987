/** The `/mcp` panel of the app: loads the text of the open tab and runs the actions of its keys. */

import { createLedger, ledgerFolder } from "@fairlead/core/policy";
import { type SafeText, safe } from "@fairlead/core/text/safe-text";
import { type HistoryTextOptions, historyText } from "../output/policy/history-text.ts";
import { signInWords } from "../output/servers/server-state.ts";
import { promptsText, resourcesText, serverToolsText } from "../output/tools/lists.ts";
import { signedIn } from "../sign-in/signed-in.ts";
import { plainStyle } from "./captured.ts";
import type { Key } from "./input/keys.ts";
import { readLogTail } from "./log-tail.ts";
import type { Services } from "./services.ts";
import { asTyped } from "./slash/prompt-commands.ts";
import { dialogRoom } from "./state/dialog.ts";
import { openPanel, type PanelState, type PanelStep, type PanelTab, panelKey } from "./state/mcp-panel.ts";
import { panelExtent } from "./view/dialogs/mcp-panel-frame.ts";

const mostLogLines = 200;
const mostCalls = 50;

/** The `/mcp` panel, closed at first. Its state is in `session.store`. */
export class Panel {
  readonly #app: Pick<Services, "session" | "servers">;

  constructor(app: Pick<Services, "session" | "servers">) {
    this.#app = app;
    const { host } = app.session;
    host.on("state", ({ state }) => this.#renew(state.name));
    host.on("catalog", ({ server }) => this.#renew(server));
  }

  open(): void {
    this.#set(openPanel());
    this.#loadSignIns().catch(this.#app.session.fail);
  }

  /** Handles a key. Returns false if the panel is closed or a question is open. */
  press(key: Key): boolean {
    const { store, clock } = this.#app.session;
    const { panel, servers, questions, size } = store.get();
    if (panel === undefined || questions.length > 0) return false;
    const extent = panelExtent({ panel, servers, now: clock.now() }, dialogRoom(size));
    this.#act(panelKey(panel, key, servers, extent));
    return true;
  }

  #act(step: PanelStep): void {
    const { session, servers } = this.#app;
    switch (step.kind) {
      case "close":
        this.#set(undefined);
        break;
      case "stay":
        this.#set(step.panel);
        break;
      case "look":
        this.#set(step.panel);
        this.#load(step.server, step.tab).catch(session.fail);
        break;
      case "do":
        // A sign-in shows its question in the panel's place. A connection test prints into the transcript.
        if (step.verb === "auth" || step.verb === "test") this.#set(undefined);
        servers[step.verb](step.server).catch(session.fail);
        break;
    }
  }

  #set(panel: PanelState | undefined): void {
    this.#app.session.store.dispatch({ type: "panel", panel });
  }

  #renew(server: string): void {
    const { store, fail } = this.#app.session;
    const { open } = store.get().panel ?? {};
    if (open?.server === server) this.#load(server, open.tab).catch(fail);
  }

  async #load(server: string, tab: PanelTab): Promise<void> {
    const text = await this.#textOf(server, tab);
    const { panel } = this.#app.session.store.get();
    // The user may have switched to another tab while the text was loading.
    if (panel?.open?.server === server && panel.open.tab === tab)
      this.#set({ ...panel, open: { ...panel.open, text } });
  }

  #textOf(server: string, tab: PanelTab): SafeText | Promise<SafeText> {
    const { session } = this.#app;
    const { host, store } = session;
    const look = { style: plainStyle, columns: store.get().size.columns - 4 };
    const state = host.configuration.locations.state;
    switch (tab) {
      case "tools":
        return serverToolsText(server, host.tools(server), { ...look, all: false }, host.hidden(server));
      case "prompts":
        return promptsText(server, asTyped(host.prompts(server), session.commands()), look);
      case "resources":
        return resourcesText(server, host.resources(server), look);
      case "log":
        return readLogTail(state, server, mostLogLines);
      case "calls":
        return readCalls(state, server, look);
    }
  }

  async #loadSignIns(): Promise<void> {
    const states = await signedIn(this.#app.session.host.configuration);
    const { panel } = this.#app.session.store.get();
    const signIns = new Map([...states].map(([name, state]) => [name, signInWords(state)]));
    if (panel) this.#set({ ...panel, signIns });
  }
}

async function readCalls(
  state: string,
  server: string,
  look: Pick<HistoryTextOptions, "style" | "columns">,
): Promise<SafeText> {
  const ledger = createLedger({ folder: ledgerFolder(state), keepArguments: () => false, now: Date.now });
  const entries = await ledger.read({ matches: (entry) => entry.server === server, limit: mostCalls });
  return entries.length === 0 ? safe`no calls yet` : historyText(entries, { ...look, isUtc: false });
}
