/** MCP clients that start `fairlead serve` as programs do, and the machine whose background host they use. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "@fairlead/test-servers";
import { processesOf } from "./left-over.ts";
import { type Machine, machine, userFile } from "./machine.ts";
import { program } from "./process.ts";

export type Message = Readonly<Record<string, unknown>>;

export interface GatewayMachine extends Machine {
  /** Starts a client; it is greeted already. */
  client(...words: readonly string[]): Promise<Client>;
  /** Starts a client that declares these capabilities. */
  clientWith(capabilities: object, ...words: readonly string[]): Promise<Client>;
  /** The process id of the background host; undefined if none runs. */
  hostPid(): Promise<number | undefined>;
  /** Ends the background host with SIGKILL, and waits until it is gone. */
  killHost(): Promise<void>;
  /** How many hosts have begun to listen. */
  hostStarts(): Promise<number>;
}

export interface Client {
  readonly child: ChildProcess;
  ask(method: string, params?: object): Promise<Message>;
  call(tool: string, args?: object): Promise<Message>;
  notify(method: string, params?: object): void;
  /** Answers a request of the gateway. */
  answer(id: unknown, result: object): void;
  /** What the client got that was not a response. */
  readonly other: readonly Message[];
  /** Resolves with the next message that is not a response, or with an earlier one, that has this method. */
  told(method: string): Promise<Message>;
  readonly errors: () => string;
  end(): Promise<void>;
}

export interface GatewayOptions {
  /** Whether the servers' tools run without a question. Default: true. */
  readonly isTrusted?: boolean;
  /** Other members of the user's settings. */
  readonly settings?: object;
  readonly env?: Readonly<Record<string, string>>;
}

/** @param servers The user's servers. */
export async function gatewayMachine(
  servers: Readonly<Record<string, object>>,
  { isTrusted = true, settings = {}, env = {} }: GatewayOptions = {},
): Promise<GatewayMachine> {
  const entries = Object.entries(servers).map(([name, entry]) => [name, isTrusted ? { ...entry, trust: true } : entry]);
  const security = { folderTrust: { enabled: false } };
  const made = await machine({ [userFile]: { mcpServers: Object.fromEntries(entries), security, ...settings } });
  const run: Machine["run"] = (...argv) => made.runWith({ env }, ...argv);
  const here: Machine = { ...made, env: { ...made.env, ...env }, run };
  const clients = new Set<Client>();

  async function hostPid(): Promise<number | undefined> {
    const { stdout } = await here.run("daemon", "status", "--json");
    return (JSON.parse(stdout) as { readonly pid?: number }).pid;
  }

  const clientWith: GatewayMachine["clientWith"] = async (capabilities, ...words) => {
    const client = startClient(here, words);
    clients.add(client);
    await client.ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities,
      clientInfo: { name: "test", version: "1" },
    });
    client.notify("notifications/initialized");
    return client;
  };

  return {
    ...here,
    hostPid,
    client: (...words) => clientWith({ elicitation: {} }, ...words),
    clientWith,
    async killHost() {
      const pid = await hostPid();
      if (pid === undefined) throw new Error("no host runs");
      process.kill(pid, "SIGKILL");
      await until(() => !processesOf(here).some((line) => line.startsWith(`${pid} `)));
    },
    async hostStarts() {
      const log = await readFile(join(here.home, ".fairlead/run/host.log"), "utf8");
      return log.split("listening:").length - 1;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...clients].map((client) => client.end()));
      await here.run("daemon", "stop");
      // The servers of a killed host are ended by its watchdog.
      await until(() => processesOf(here).length === 0);
      await here[Symbol.asyncDispose]();
    },
  };
}

function startClient({ env, project }: Machine, words: readonly string[]): Client {
  const child = spawn(process.execPath, [program, "serve", ...words], {
    cwd: project,
    env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const waiting = new Map<unknown, (message: Message) => void>();
  const other: Message[] = [];
  const listeners = new Set<() => void>();
  let errors = "";
  let rest = "";
  let id = 0;
  child.stderr.on("data", (chunk) => {
    errors += String(chunk);
  });
  child.stdin.on("error", () => {});
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as Message;
      if (message["method"] === undefined) waiting.get(message["id"])?.(message);
      else other.push(message);
    }
    for (const listener of listeners) listener();
  });

  function send(message: object): void {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  function ask(method: string, params: object = {}): Promise<Message> {
    id += 1;
    const own = id;
    send({ id: own, method, params });
    return new Promise((resolve, reject) => {
      waiting.set(own, resolve);
      child.once("exit", () => reject(new Error(`fairlead serve ended: ${errors}`)));
    });
  }

  return {
    child: child.setMaxListeners(0),
    ask,
    call: (name, args = {}) => ask("tools/call", { name, arguments: args }),
    notify: (method, params = {}) => send({ method, params }),
    answer: (id, result) => send({ id, result }),
    other,
    told(method) {
      return new Promise((resolve) => {
        const look = (): void => {
          const found = other.find((message) => message["method"] === method);
          if (found === undefined) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      });
    },
    errors: () => errors,
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.stdin.end();
      await exited;
    },
  };
}
