/** The rows of the servers: their states as the host has them, with what the lists and the history say about each. */

import type { Clock } from "@fairlead/core/clock";
import type { ServerState } from "@fairlead/core/events";
import type { OpenedHost } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import type { Server } from "@fairlead/core/server";
import type { NextStep, ServerRow } from "../../protocol/rows.ts";
import type { ServerUsage } from "./server-usage.ts";

/** Milliseconds in which several changes of a server become one event. */
const pause = 100;
type Emit = (
  event:
    | { readonly type: "servers"; readonly servers: readonly ServerRow[] }
    | { readonly type: "server"; readonly server: ServerRow },
) => void;

interface ServerRowsOptions {
  readonly host: OpenedHost;
  readonly usage: ServerUsage;
  readonly clock: Clock;
  /** The current time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly emit: Emit;
}

/** Makes the rows, and tells of changed ones. */
export class ServerRows implements Disposable {
  readonly #options: ServerRowsOptions;
  readonly #stops: readonly (() => void)[];
  /** Servers whose state has changed since this began. The others were not used since the host started. */
  readonly #seen = new Set<string>();
  readonly #touched = new Set<string>();
  /** Servers that fail: since when, and the latest cause. A try to connect changes neither. */
  readonly #failing = new Map<string, Failing>();
  /** The rows that were emitted last, as JSON. */
  readonly #latest = new Map<string, string>();
  #tokens: ReadonlyMap<string, number> = new Map();
  #callOff: (() => void) | undefined;
  #counting: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: ServerRowsOptions) {
    this.#options = options;
    const { on, gateway } = options.host;
    for (const { state } of gateway.servers.all()) this.#note(state);
    this.#stops = [
      on("state", ({ state }) => {
        this.#seen.add(state.name);
        this.#note(state);
        this.touch(state.name);
        // A connected server may list other tools than the cache had.
        if (state.status === "connected" && state.offer !== undefined) void this.countTokens();
      }),
      on("catalog", ({ server }) => {
        this.touch(server);
        void this.countTokens();
      }),
      on("servers", () => {
        this.#latest.clear();
        options.emit({ type: "servers", servers: this.all() });
        void this.countTokens();
      }),
    ];
  }

  /** All rows, in the order of the settings. */
  all(): readonly ServerRow[] {
    return this.#options.host.gateway.servers.all().map((server) => this.#row(server));
  }

  /** Tells of the server's row soon, if it has changed. */
  touch(server: string): void {
    if (this.#isClosed) return;
    this.#touched.add(server);
    this.#callOff ??= this.#options.clock.after(pause, () => this.#tell(), { background: true });
  }

  /** Counts the tokens of the tools again. Resolves when the rows have them. */
  countTokens(): Promise<void> {
    const count = async (): Promise<void> => {
      if (this.#isClosed) return;
      const tools = await this.#options.host.toolOffers();
      const tokens = new Map<string, number>();
      for (const { server, tokens: each } of tools) tokens.set(server, (tokens.get(server) ?? 0) + each);
      const changed = [...tokens].filter(([name, each]) => this.#tokens.get(name) !== each);
      this.#tokens = tokens;
      for (const [name] of changed) this.touch(name);
    };
    // Without tokens, the rows show that they are not known.
    this.#counting = this.#counting.then(count).catch(() => undefined);
    return this.#counting;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#callOff?.();
    for (const stop of this.#stops) stop();
  }

  #tell(): void {
    this.#callOff = undefined;
    const { host, emit } = this.#options;
    const touched = [...this.#touched];
    this.#touched.clear();
    for (const name of touched) {
      const server = host.gateway.servers.find(name);
      if (server === undefined) continue;
      const row = this.#row(server);
      const text = JSON.stringify(row);
      if (this.#latest.get(name) === text) continue;
      this.#latest.set(name, text);
      emit({ type: "server", server: row });
    }
  }

  #row(server: Server): ServerRow {
    const { usage, now } = this.#options;
    const { name, state } = server;
    const { calls, lastError, median } = usage.of(name, now());
    const counts = state.status === "connected" ? (state.offer ?? server.catalog?.offer) : server.catalog?.offer;
    const changed = changedItems(server).length;
    const failure = failureIn(state) ?? (state.status === "connecting" ? this.#failing.get(name)?.failure : undefined);
    return {
      name,
      status: state.status,
      reason: "reason" in state ? state.reason : undefined,
      since: this.#sinceOf(state),
      cause: failure?.message,
      evidence: failure?.evidence,
      nextTryAt:
        state.status === "disconnected" && state.reason === "backoff" ? this.#toDate(state.nextTryAt) : undefined,
      next: nextStep(state, changed),
      transport: transportOf(server, state),
      scope: server.scope ?? "built-in",
      protocolVersion: state.status === "connected" ? state.peer.protocolVersion : undefined,
      counts,
      isCached: counts !== undefined && (state.status !== "connected" || state.offer === undefined),
      tokens: this.#tokens.get(name),
      calls,
      lastError,
      median,
      changed,
    };
  }

  /** A server that was not used yet has its state since the host began, which says nothing. */
  #sinceOf(state: ServerState): number | undefined {
    if (!wasTried(state) && !this.#seen.has(state.name)) return undefined;
    return this.#toDate(this.#failing.get(state.name)?.since ?? state.since);
  }

  /** A server that fails again after a try has failed since the first time, not since the latest. */
  #note(state: ServerState): void {
    const failure = failureIn(state);
    if (state.status === "disconnected" && failure !== undefined && state.reason !== "lazy") {
      const since = this.#failing.get(state.name)?.since ?? state.since;
      this.#failing.set(state.name, { since, failure });
    } else if (state.status !== "connecting") this.#failing.delete(state.name);
  }

  /** The host's clock does not count since 1970. */
  #toDate(moment: number): number {
    const { clock, now } = this.#options;
    return Math.round(now() - (clock.now() - moment));
  }
}

interface Cause {
  readonly message: string;
  readonly evidence?: string;
}

interface Failing {
  /** By the host's clock. */
  readonly since: number;
  readonly failure: Cause;
}

/** Whether the host has tried to connect the server to come to this state. */
function wasTried(state: ServerState): boolean {
  switch (state.status) {
    case "connected":
    case "connecting":
    case "needs_auth":
      return true;
    case "disconnected":
      return !["lazy", "settings_invalid", "variable_unset", undefined].includes(state.reason);
    case "disconnecting":
    case "disabled":
    case "blocked":
      return false;
  }
}

/** A tool or prompt whose definition differs from the accepted one. */
export interface ChangedItem {
  readonly kind: "tool" | "prompt";
  readonly name: string;
}

/** The tools and prompts of a server that differ from their accepted or locked definitions. */
export function changedItems(server: Server): readonly ChangedItem[] {
  const listed = server.listedBy();
  const tools = listed.tools().filter(({ name }) => {
    const change = listed.changeOf(name);
    // A doubt means that Fairlead cannot save definitions, which is no change of the server.
    return change !== undefined && change.doubt === undefined;
  });
  const prompts = (server.catalog?.catalog.prompts ?? []).filter(
    ({ name }) => server.promptChangeOf(name) !== undefined,
  );
  return [
    ...tools.map(({ name }): ChangedItem => ({ kind: "tool", name })),
    ...prompts.map(({ name }): ChangedItem => ({ kind: "prompt", name })),
  ];
}

function failureIn(state: ServerState): Cause | undefined {
  if ("because" in state && state.because !== undefined) return state.because;
  return "message" in state ? state : undefined;
}

/** The negotiated transport. For a server that is not connected, the configured one: `url` alone begins with HTTP. */
function transportOf(server: Server, state: ServerState): ServerRow["transport"] {
  if (server.isDemo) return "built-in";
  if (state.status === "connected" && state.peer.transport !== undefined) return state.peer.transport;
  const { kind } = server.configuration.servers.find((each) => each.server.name === server.name)?.server ?? {};
  return kind === "http-or-sse" ? "http" : (kind ?? "unknown");
}

/** The one step that helps: a button of the console, and the same as a command. */
function nextStep(state: ServerState, changed: number): NextStep | undefined {
  const { name, status } = state;
  const word = toShellWord(name);
  const given = "next" in state ? state.next : undefined;
  const said = given === undefined ? {} : given.startsWith("fairlead ") ? { shell: given } : { text: given };
  switch (status) {
    case "connected":
      return changed === 0 ? undefined : { label: "Compare", action: "compare" };
    case "connecting":
    case "disconnecting":
      return undefined;
    case "needs_auth":
      return { label: "Sign in", action: "signIn", shell: `fairlead mcp auth ${word}` };
    case "disabled":
      return { label: "Enable", action: "enable", shell: `fairlead mcp enable ${word}` };
    case "blocked":
      if (state.reason === "awaiting_approval") return { label: "Approve", action: "approve", ...said };
      return given === undefined
        ? undefined
        : { label: state.reason === "untrusted_folder" ? "Trust" : "Allow", ...said };
    case "disconnected": {
      const shell = `fairlead mcp restart ${word}`;
      if (state.reason === "lazy") return { label: "Start", action: "start", shell };
      return { label: state.reason === "backoff" ? "Try now" : "Try again", action: "start", shell, ...said };
    }
  }
}
