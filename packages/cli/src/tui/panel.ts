/** The `/mcp` panel of the app: loads the text of the open tab and runs the actions of its keys. */

import { createLedger, ledgerFolder } from "@fairlead/core/policy/ledger/ledger";
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

/** Opens the `/mcp` panel and handles its keys. */
export interface Panel {
  readonly open: () => void;
  /** Handles a key. Returns false if the panel is closed or a question is open. */
  readonly press: (key: Key) => boolean;
}

const mostLogLines = 200;
const mostCalls = 50;

/** Creates the panel, closed. Its state is in `session.store`. */
export function createPanel({ session, settings, servers }: Omit<Services, "openPanel">): Panel {
  const { store, host, clock, fail } = session;

  function set(panel: PanelState | undefined): void {
    store.dispatch({ type: "panel", ...(panel && { panel }) });
  }

  async function load(server: string, tab: PanelTab): Promise<void> {
    const text = await textOf(server, tab);
    const { panel } = store.get();
    // The user may have switched to another tab while the text was loading.
    if (panel?.open?.server === server && panel.open.tab === tab) set({ ...panel, open: { ...panel.open, text } });
  }

  function textOf(server: string, tab: PanelTab): SafeText | Promise<SafeText> {
    const { columns } = store.get().size;
    const look = { style: plainStyle, columns: columns - 4 };
    const state = settings.get().locations.state;
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

  async function loadSignIns(): Promise<void> {
    const states = await signedIn(settings.get());
    const { panel } = store.get();
    const signIns = new Map([...states].map(([name, state]) => [name, signInWords(state)]));
    if (panel) set({ ...panel, signIns });
  }

  function renew(server: string): void {
    const { open } = store.get().panel ?? {};
    if (open?.server === server) load(server, open.tab).catch(fail);
  }
  host.on("state", ({ state }) => renew(state.name));
  host.on("catalog", ({ server }) => renew(server));

  function act(step: PanelStep): void {
    switch (step.kind) {
      case "close":
        set(undefined);
        break;
      case "stay":
        set(step.panel);
        break;
      case "look":
        set(step.panel);
        load(step.server, step.tab).catch(fail);
        break;
      case "do":
        // A sign-in shows its question in the panel's place. A connection test prints into the transcript.
        if (step.verb === "auth" || step.verb === "test") set(undefined);
        servers[step.verb](step.server).catch(fail);
        break;
    }
  }

  return {
    open() {
      set(openPanel());
      loadSignIns().catch(fail);
    },
    press(key) {
      const { panel, servers: states, questions, size } = store.get();
      if (panel === undefined || questions.length > 0) return false;
      const extent = panelExtent({ panel, servers: states, now: clock.now() }, dialogRoom(size));
      act(panelKey(panel, key, states, extent));
      return true;
    },
  };
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
