/** A host with one server in its sandbox, which runs JavaScript that a test sends. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { programServer, temporaryFolder } from "@fairlead/test-servers";
import { createHost, type Host, type HostOptions } from "../../src/index.ts";
import { createLedger, ledgerFolder } from "../../src/policy/ledger/ledger.ts";
import type { LedgerEntry } from "../../src/policy/ledger/ledger-entry.ts";

export interface Boxed extends AsyncDisposable {
  readonly host: Host;
  readonly home: string;
  /** Runs code inside, and returns what it returns as text. A failure begins with `failed: `. */
  run(code: string): Promise<string>;
  /** Gives the server another profile. */
  configure(sandbox: object): Promise<void>;
  /** Writes the user's policy file. */
  rules(text: string): Promise<void>;
  /** What the history says about hosts, oldest first. */
  hostHistory(): Promise<readonly LedgerEntry[]>;
}

export interface BoxedOptions {
  /** Called with the home folder before the server starts. */
  readonly prepare?: (home: string) => Promise<unknown>;
  readonly sandbox?: object | string | ((home: string) => object);
  readonly entry?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly options?: HostOptions;
}

export async function openBoxed({
  prepare,
  sandbox = "on",
  entry,
  env = {},
  options,
}: BoxedOptions = {}): Promise<Boxed> {
  const folder = await temporaryFolder();
  const home = join(folder.path, "home");
  await mkdir(home);
  await prepare?.(home);
  const profile = typeof sandbox === "function" ? sandbox(home) : sandbox;
  const configure = (sandboxed: object | string): Promise<string> =>
    folder.write("home/.gemini/settings.json", {
      mcpServers: { s: { ...programServer("evaluator"), ...entry } },
      fairlead: { servers: { s: { sandbox: sandboxed } } },
    });
  await configure(profile);
  const host = await createHost({
    ...options,
    environment: { env: { PATH: process.env["PATH"], ...env }, home, cwd: home, platform: process.platform },
  });
  return {
    host,
    home,
    async run(code) {
      const { content } = await host.call("s", "run", { code });
      const [first] = content as readonly { readonly text?: string }[];
      return first?.text ?? "";
    },
    async configure(sandboxed) {
      await configure(sandboxed);
      await host.reload();
    },
    async rules(text) {
      await folder.write("home/.gemini/policies/rules.toml", text);
    },
    async hostHistory() {
      await host.flushHistory();
      const ledger = createLedger({
        folder: ledgerFolder(join(home, ".fairlead")),
        keepArguments: () => true,
        now: Date.now,
      });
      return (await ledger.read()).filter(({ kind }) => kind === "host");
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
