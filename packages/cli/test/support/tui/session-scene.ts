/** The app without its screen, in this process: what is typed goes in as keys, and what it shows is read from its state. */

import { Readable, Writable } from "node:stream";
import { createIdeTrust } from "@fairlead/core/ide/ide-trust";
import { Command } from "commander";
import { createOutput } from "../../../src/output/output.ts";
import { configurationOf } from "../../../src/shell/configuration.ts";
import { runWords } from "../../../src/shell/main.ts";
import type { Context, Io } from "../../../src/shell/verb.ts";
import { AppSession } from "../../../src/tui/session/session.ts";
import type { AppState } from "../../../src/tui/state/app-state.ts";
import type { Asked, QuestionOf } from "../../../src/tui/state/questions.ts";
import type { Machine } from "../machine.ts";
import { stillClock } from "../still-clock.ts";

export interface Scene extends AsyncDisposable {
  readonly session: AppSession;
  readonly state: () => AppState;
  /** A line, with the Enter behind it. */
  readonly enter: (line: string) => void;
  readonly type: (text: string) => void;
  /** Waits for something to be so. */
  readonly until: (isSo: (state: AppState) => boolean) => Promise<AppState>;
  /** Waits until these servers are connected and their lists are read. */
  readonly ready: (...servers: readonly string[]) => Promise<void>;
  /** Waits for a note, an output or a result with this in it, and gives its text. */
  readonly shown: (pattern: RegExp) => Promise<string>;
  /** Control sequences that the app wrote. */
  readonly written: readonly string[];
  readonly asked: <K extends Asked["kind"]>(kind: K) => Promise<QuestionOf<K>>;
}

export async function openScene(
  here: Machine,
  env: Readonly<Record<string, string>> = {},
  prompt?: string,
): Promise<Scene> {
  const written: string[] = [];
  const context = { ...contextOf(here, env), operands: prompt === undefined ? [] : [prompt] };
  const session = new AppSession(context, await configurationOf(context), {
    size: { columns: 100, rows: 40 },
    hasScreen: true,
    writeTerminal: (sequence) => void written.push(sequence),
    onQuit() {},
    onRedraw() {},
  });
  const { store } = session;

  function until(isSo: (state: AppState) => boolean): Promise<AppState> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isSo(store.get())) return;
        stop();
        resolve(store.get());
      };
      const stop = store.subscribe(look);
      look();
    });
  }

  function find<K extends Asked["kind"]>({ questions }: AppState, kind: K): QuestionOf<K> | undefined {
    const [first] = questions;
    return first?.kind === kind ? (first as QuestionOf<K>) : undefined;
  }

  return {
    session,
    written,
    state: store.get,
    type(text) {
      for (const letter of text) session.press({ name: "text", text: letter });
    },
    enter(line) {
      session.press({ name: "paste", text: line });
      session.press({ name: "enter" });
    },
    until,
    async ready(...servers) {
      const isReady = (state: AppState["servers"][number]): boolean =>
        state.status === "connected" && state.offer !== undefined;
      await until((state) =>
        servers.every((name) => state.servers.some((each) => each.name === name && isReady(each))),
      );
    },
    async shown(pattern) {
      const isShown = (text: string): boolean => pattern.test(text);
      const { items } = await until((state) => state.items.some((item) => isShown(textOf(item))));
      return textOf(items.findLast((item) => isShown(textOf(item))));
    },
    async asked(kind) {
      const state = await until((each) => find(each, kind) !== undefined);
      return find(state, kind) ?? fail(kind);
    },
    [Symbol.asyncDispose]: () => session.close(),
  };
}

function fail(kind: string): never {
  throw new Error(`nothing of the kind ${kind} is asked`);
}

function textOf(item: AppState["items"][number] | undefined): string {
  if (item === undefined) return "";
  if (item.kind === "call") return `${item.call.tool} ${item.call.status} ${item.call.display ?? ""}`;
  const { text } = item;
  return item.kind === "note"
    ? `${text}\n${item.next ?? ""}`
    : item.kind === "output"
      ? `${item.title}\n${text}`
      : text;
}

export function contextOf({ env, home, project }: Machine, more: Readonly<Record<string, string>>): Context {
  const silent = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
  const io: Io = {
    stdin: Readable.from([]),
    stdout: silent(),
    stderr: silent(),
    env: { ...env, ...more },
    cwd: project,
    home,
    platform: process.platform,
    signal: new AbortController().signal,
  };
  return {
    io,
    out: createOutput(io, { quiet: false }),
    globals: { workspace: true, trustWorkspace: false, json: false, quiet: false, debug: false },
    command: new Command(),
    operands: [],
    rest: [],
    ide: createIdeTrust({ environment: io, clock: stillClock }),
    runWords,
  };
}
