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
  /** Reads what a person knows of its tools; to be awaited before the server is heard. */
  readonly meet: (server: string) => Promise<void>;
  /** What it offers next is compared with that, whoever asks for it. */
  readonly onRemembered: (server: string, remembered: Remembered) => Offering;
  readonly recall: (servers: readonly string[]) => Promise<readonly Knowledge[]>;
  /** Keeps what is known of the server now; resolves when that is on the disk. */
  readonly remember: (server: string) => Promise<void>;
  /** Resolves when what was learnt is on the disk. */
  readonly saved: () => Promise<unknown>;
}

export function keepKnowledge(options: KnowledgeOptions): KnowledgeKeeper {
  const { memory, marks, shelf, client, definition, shelved, emit, today } = options;
  const saving = new Map<string, Promise<void>>();

  /** What it offers now, also if that is what it offered in an earlier run: then it brings no news. */
  function take(server: string): void {
    const offering = client(server)?.offering;
    if (offering === undefined) return;
    if (shelf().offering(server) !== offering) {
      marks.see(server, offering.catalog.tools);
      shelf().put(shelved(server), offering);
    }
    void remember(server);
  }

  /** A catalog that cannot be written costs the next start some time, and nobody anything now. What is written last is what was known last. */
  function remember(server: string): Promise<void> {
    const entry = definition(server);
    const { offering, state } = client(server) ?? {};
    if (entry === undefined || offering === undefined || state?.status !== "connected") return Promise.resolve();
    const { catalog, hidden, offer } = offering;
    const learnt = { peer: state.peer, offer, catalog, hidden: [...hidden], accepted: marks.unaccepted(server) };
    const before = saving.get(server) ?? Promise.resolve();
    const saved = before.then(async () => {
      await Promise.allSettled([memory.keep(entry, learnt), keepKnown(server, entry)]);
    });
    saving.set(server, saved);
    return saved;
  }

  async function keepKnown(server: string, entry: ServerDefinition): Promise<void> {
    const news = marks.news(server);
    if (news.size > 0) marks.know(server, await memory.addKnown(entry, news));
  }

  async function meet(server: string): Promise<void> {
    const entry = definition(server);
    const known = entry && (await memory.known(entry));
    if (known) marks.know(server, known);
  }

  function onRemembered(server: string, { catalog, hidden, offer, accepted = [] }: Remembered): Offering {
    const offering = { catalog, hidden: new Map(hidden), offer };
    client(server)?.remember(offering);
    marks.recall(server, catalog.tools, accepted);
    return offering;
  }

  async function recallOne(server: string): Promise<Knowledge | undefined> {
    const connected = client(server)?.offering;
    if (connected) return { server, offer: connected.offer };
    const entry = definition(server);
    const [remembered] = entry ? await Promise.all([memory.recall(entry), meet(server)]) : [];
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
    meet,
    onRemembered,
    async recall(servers) {
      const known = await Promise.all(servers.map(recallOne));
      return known.flatMap((one) => one ?? []);
    },
    remember,
    saved: () => Promise.all(saving.values()),
  };
}
