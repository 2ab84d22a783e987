/** Connects to a process that answers the handshake as a test has planned it. */

import { readFileSync } from "node:fs";
import { processesWith, temporaryFolder, until } from "@fairlead/test-servers";
import { connect } from "../../src/connect.ts";
import type { JsonObject, Session } from "../../src/session.ts";
import type { ConnectOptions } from "../../src/target.ts";
import { clientInfo, discover } from "./modern-session.ts";
import { program } from "./stdio-server.ts";

interface Answer {
  readonly result?: unknown;
  readonly error?: unknown;
  readonly after?: number;
  readonly last?: boolean;
  readonly held?: boolean | "once";
}

export type How = "silent" | "die" | Answer;

export interface Plan {
  readonly delay?: number;
  readonly discover?: How;
  readonly initialize?: How;
  readonly other?: How;
}

export const hello: JsonObject = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: "scripted", version: "7", title: "Scripted" },
  instructions: "be kind",
};
export const initialized: Answer = { result: hello };
export const discovered: Answer = { result: discover };
export const unknownMethod: Answer = { error: { code: -32601, message: "unknown method" } };
export const legacyRefused: Answer = { error: { code: -32022, message: "no", data: { supported: ["2026-07-28"] } } };

/** Connects to a server that follows the plan; what it saw comes out of `notices`. */
export async function connectTo(plan: Plan, options: Partial<ConnectOptions> = {}) {
  const folder = await temporaryFolder();
  const notices = await folder.write("notices", "");
  const target = program("scripted.mjs", JSON.stringify({ ...plan, notices }));
  const mark = `FAIRLEAD_TEST=${notices}`;
  const diagnostics: string[] = [];
  const linesIn = (): string[] =>
    readFileSync(notices, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  const connecting = connect(
    { ...target, env: { ...target.env, FAIRLEAD_TEST: notices } },
    {
      clientInfo,
      onDiagnostic: (text) => void diagnostics.push(text),
      ...options,
      times: { probe: 10_000, endGrace: 500, termGrace: 200, killGrace: 60_000, ...options.times },
    },
  );
  return {
    connecting,
    diagnostics,
    notices: linesIn,
    /** Resolves with all notices when there is one of this method. */
    async noticed(method: string): Promise<string[]> {
      await until(() => linesIn().includes(method));
      return linesIn();
    },
    left: () => processesWith(mark),
    async [Symbol.asyncDispose]() {
      await connecting.then(
        (session) => session.close(),
        () => undefined,
      );
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A request that shows what the session really is: the server repeats it. */
export async function echo(session: Session): Promise<unknown> {
  return (await session.request("echo", { a: 1 }))["params"];
}
