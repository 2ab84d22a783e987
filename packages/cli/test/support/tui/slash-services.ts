/** Services for tests of slash commands: an app in memory that records what a command does, in order. */

import { Readable, Writable } from "node:stream";
import { HostError } from "@fairlead/core/errors";
import type { ServerState } from "@fairlead/core/events";
import type { HostTool } from "@fairlead/core/host";
import type { ConversationTool } from "@fairlead/core/turn/conversation";
import { createOutput } from "../../../src/output/output.ts";
import type { Io } from "../../../src/shell/verb.ts";
import type { Services } from "../../../src/tui/services.ts";
import { Store } from "../../../src/tui/session/store.ts";
import type { SlashCommand } from "../../../src/tui/slash/command.ts";
import type { AppState } from "../../../src/tui/state/app-state.ts";
import { serverVerbs } from "../../../src/tui/state/mcp-panel.ts";
import { idle } from "./app-state.ts";

export interface SlashParts {
  readonly state?: AppState;
  readonly host?: object;
  readonly conversation?: object;
  readonly session?: object;
  readonly configuration?: object;
  /** The answers to the command's questions, in order. */
  readonly answers?: readonly unknown[];
  readonly io?: Partial<Io>;
  readonly services?: Partial<Services>;
}

export const peer = { era: "legacy", protocolVersion: "2025-06-18", serverInfo: { name: "s", version: "1" } } as const;

export const states: readonly ServerState[] = [
  { name: "files", since: 0, status: "connected", peer },
  { name: "docs", since: 0, status: "needs_auth", reason: "auth_required", message: "sign in first" },
];

export function hostTool(server: string, serverToolName: string, more: Partial<HostTool> = {}): HostTool {
  return {
    name: serverToolName,
    server,
    serverToolName,
    description: `the tool ${serverToolName}`,
    parametersJsonSchema: {},
    repairs: [],
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    ...more,
  };
}

export function conversationTool(server: string, serverToolName: string, more: Partial<ConversationTool> = {}) {
  const description = `the tool ${serverToolName}`;
  return { name: `${server}_${serverToolName}`, server, serverToolName, description, enabled: true, ...more };
}

export function slashScene({ state = idle, answers = [], configuration = {}, ...parts }: SlashParts = {}) {
  const done: unknown[] = [];
  const left = [...answers];
  const step =
    (name: string) =>
    (...words: readonly unknown[]): void =>
      void done.push([name, ...words]);
  const later =
    (name: string) =>
    async (...words: readonly unknown[]): Promise<void> =>
      void done.push([name, ...words]);
  const silent = (): Writable => new Writable({ write: (_chunk, _encoding, next) => next() });
  const io: Io = {
    stdin: Readable.from([]),
    stdout: silent(),
    stderr: silent(),
    env: {},
    cwd: "/project",
    home: "/home/ada",
    platform: "linux",
    signal: new AbortController().signal,
    ...parts.io,
  };
  const services = {
    session: {
      store: new Store(state),
      host: {
        configuration: { servers: [], trust: { trusted: true, source: "default", detail: "" }, ...configuration },
        changeSettings: (change: () => Promise<unknown>) => {
          done.push(["change"]);
          return change();
        },
        states: () => states,
        tools: () => [],
        hidden: () => [],
        prompts: () => [],
        resources: () => [],
        recall: async () => [],
        start: later("start"),
        flushHistory: later("flush history"),
        hideSecrets: async (text: string) => text.replaceAll("hunter2", "[hidden]"),
        ...parts.host,
      },
      conversation: { id: "c1", tools: () => [], history: [], setTool: step("set tool"), ...parts.conversation },
      commands: () => [],
      show: step("show"),
      note: step("note"),
      fail: step("fail"),
      send: step("send"),
      sendCall: step("send call"),
      setModel: ({ name }: { readonly name: string }) => step("set model")(name),
      model: () => ({ provider: "manual", name: "manual" }),
      clear: step("clear"),
      compact: later("compact"),
      quit: step("quit"),
      ask: async (kind: string, asked: unknown) => {
        done.push(["ask", kind, asked]);
        return left.shift();
      },
      ...parts.session,
    },
    context: { io, out: createOutput(io, { quiet: false }), globals: { json: false } },
    servers: {
      ...Object.fromEntries(serverVerbs.map((verb) => [verb, later(verb)])),
      reload: later("reload"),
      stateOf(name: string) {
        const found = states.find((each) => each.name === name);
        if (found === undefined) throw new HostError("server_unknown", `there is no server "${name}"`);
        return found;
      },
    },
    runVerb: async (...words: readonly string[]) => {
      done.push(["run", ...words]);
      return `output of ${words.join(" ")}`;
    },
    writeTerminal: step("write"),
    openConsole: later("open console"),
    openPanel: step("open panel"),
    ...parts.services,
  } as unknown as Services;
  return {
    services,
    /** Runs the command and returns what it did. An error is the last entry. */
    async run(command: SlashCommand, words: string): Promise<readonly unknown[]> {
      try {
        await command.run(words, services);
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        done.push(["throw", error.code, error.message, ...(error.next === undefined ? [] : [error.next])]);
      }
      return done.splice(0);
    },
  };
}
