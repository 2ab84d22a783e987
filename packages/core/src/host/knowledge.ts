/** Keeps what is known of servers up to date: from what they say, from what earlier runs remember, and for the runs to come. */

import type { Remembered } from "../discover/remembered.ts";
import type { HostEvent, ServerNews, ServerState } from "../events.ts";
import type { McpClient } from "../mcp/client.ts";
import type { Offering } from "../mcp/offering.ts";
import type { ServerDefinition } from "../settings/definition.ts";
import type { ChangeMarks } from "./marks.ts";
import type { HostMemory } from "./memory.ts";
import type { Shelf, ShelvedServer } from "./shelf.ts";
import type { Knowledge } from "./types.ts";

export interface KnowledgeOptions {
  readonly memory: HostMemory;
  readonly marks: ChangeMarks;
  readonly shelf: () => Shelf;
  readonly client: (server: string) => McpClient | undefined;
  readonly definition: (server: string) => ServerDefinition | undefined;
  readonly shelved: (server: string) => ShelvedServer;
  readonly emit: (event: HostEvent) => void;
  /** Milliseconds since 1970. */
  readonly today: () => number;
}

export interface KnowledgeKeeper {
  readonly onNews: (news: ServerNews) => void;
  readonly onState: (state: ServerState) => void;
  /** What it offers next is compared with that, whoever asks for it. */
  readonly onRemembered: (server: string, remembered: Remembered) => Offering;
  readonly recall: (servers: readonly string[]) => Promise<readonly Knowledge[]>;
  /** Resolves when what was learnt is on the disk. */
  readonly saved: () => Promise<unknown>;
}

export function keepKnowledge(options: KnowledgeOptions): KnowledgeKeeper {
  const { memory, marks, shelf, client, definition, shelved, emit, today } = options;
  const saving = new Set<Promise<unknown>>();

  /** What it offers now, also if that is what it offered in an earlier run: then it brings no news. */
  function take(server: string): void {
    const offering = client(server)?.offering;
    if (offering === undefined) return;
    if (shelf().offering(server) !== offering) {
      marks.see(server, offering.catalog.tools);
      shelf().put(shelved(server), offering);
    }
    remember(server);
  }

  /** A catalog that cannot be written costs the next start some time, and nobody anything now. */
  function remember(server: string): void {
    const entry = definition(server);
    const { offering, state } = client(server) ?? {};
    if (entry === undefined || offering === undefined || state?.status !== "connected") return;
    const { catalog, hidden, offer } = offering;
    const saved = memory.keep(entry, { peer: state.peer, offer, catalog, hidden: [...hidden] }).catch(() => {});
    saving.add(saved);
    void saved.then(() => saving.delete(saved));
  }

  function onRemembered(server: string, { catalog, hidden, offer }: Remembered): Offering {
    const offering = { catalog, hidden: new Map(hidden), offer };
    client(server)?.remember(offering);
    marks.see(server, catalog.tools);
    return offering;
  }

  async function recallOne(server: string): Promise<Knowledge | undefined> {
    const connected = client(server)?.offering;
    if (connected) return { server, offer: connected.offer };
    const entry = definition(server);
    const remembered = entry && (await memory.recall(entry));
    if (remembered === undefined) return undefined;
    const offering = onRemembered(server, remembered);
    const { offer, peer, savedAt, freshUntil = Number.POSITIVE_INFINITY } = remembered;
    // Too old to be shown; to be compared with what comes, never.
    if (freshUntil < today()) return undefined;
    if (shelf().offering(server) === undefined) shelf().put(shelved(server), offering);
    return { server, offer, peer, savedAt };
  }

  return {
    /** Before anyone hears of it, what is known is up to date. */
    onNews(news) {
      if (news.type === "catalog") take(news.server);
      emit(news);
    },
    onState(state) {
      if (state.status === "connected" && state.offer) take(state.name);
      emit({ type: "state", state });
    },
    onRemembered,
    async recall(servers) {
      const known = await Promise.all(servers.map(recallOne));
      return known.flatMap((one) => one ?? []);
    },
    saved: () => Promise.all(saving),
  };
}
