/** One replica as a process of its own: own home, own temporary folder, own address, and a network where that is permitted. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const command = fileURLToPath(new URL("../../../cli/bin/fairlead.cjs", import.meta.url));

export interface ReplicaOptions {
  /** A folder for everything of this replica. */
  readonly folder: string;
  /** An address that no other replica has. */
  readonly address: string;
  /** What its command begins with, to run in a network of its own. */
  readonly network?: readonly string[];
  /** The system settings. `fairlead.team.listen` is added. */
  readonly settings: Settings;
  /** The program and its first arguments. Default: `fairlead serve --team` of this checkout. */
  readonly program?: readonly string[];
}

export interface Settings {
  readonly mcpServers: Readonly<Record<string, object>>;
  readonly fairlead: { readonly team: Readonly<Record<string, unknown>> };
}

export class Replica implements AsyncDisposable {
  readonly #options: ReplicaOptions;
  /** The same after a restart: balancers keep the address. */
  #port = 0;
  #child: ChildProcess | undefined;
  #isReady = false;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  get address(): string {
    return this.#options.address;
  }

  get port(): number {
    return this.#port;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    const { folder, address, settings, network = [] } = this.#options;
    const { program = [process.execPath, command, "serve", "--team"] } = this.#options;
    const [home, temporary] = [join(folder, "home"), join(folder, "tmp")];
    for (const path of [home, temporary]) await mkdir(path, { recursive: true });
    const file = join(folder, "settings.json");
    const { team, ...others } = settings.fairlead;
    const listening = { ...team, listen: `${address}:${this.#port}` };
    await writeFile(file, JSON.stringify({ ...settings, fairlead: { ...others, team: listening } }));
    const env = {
      PATH: process.env["PATH"],
      HOME: home,
      FAIRLEAD_HOME: join(home, ".fairlead"),
      TMPDIR: temporary,
      NO_COLOR: "1",
      GEMINI_CLI_SYSTEM_SETTINGS_PATH: file,
    };
    const [executable = "", ...args] = [...network, ...program];
    const child = spawn(executable, args, { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    child.stderr.pipe(createWriteStream(join(folder, "log"), { flags: "a" }));
    const lines = createInterface(child.stdout);
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`replica ${address} ended with code ${String(code)}; its log: ${join(folder, "log")}`);
    });
    const [line] = (await Promise.race([once(lines, "line"), ended])) as [string];
    ended.catch(() => undefined);
    const { url } = JSON.parse(line) as { readonly url: string };
    this.#port = Number(new URL(url).port);
  }

  /** Ends it and resolves with its exit code, or null if the signal ended it. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const gone = once(child, "close");
    child.kill(signal);
    await gone;
    return child.exitCode;
  }

  /** What `/readyz` says. Undefined if nobody listens. */
  async readiness(): Promise<Readiness | undefined> {
    try {
      const response = await fetch(`http://${this.address}:${this.#port}/readyz`, {
        signal: AbortSignal.timeout(4000),
      });
      const facts = (await response.json()) as Omit<Readiness, "isReady">;
      this.#isReady = response.ok;
      return { ...facts, isReady: this.#isReady };
    } catch {
      this.#isReady = false;
      return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGKILL");
  }
}

export interface Readiness {
  readonly isReady: boolean;
  readonly config: readonly { readonly tenant: number; readonly version: number }[];
  readonly spoolRows: number;
}
