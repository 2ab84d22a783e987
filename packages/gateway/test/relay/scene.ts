/** A relay between a scripted client and hosts of this process, which answer as a test says and can be cut off. */

import { PassThrough } from "node:stream";
import { temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { type ServedClient, type ServedRequest, serveClient } from "@fairlead/wire/serve";
import { listenForRelays, type RelayListener } from "../../src/daemon/listen.ts";
import type { Gateway } from "../../src/gateway.ts";
import type { GatewayClient } from "../../src/gateway-client.ts";
import type { HostConnection } from "../../src/relay/connect-host.ts";
import { findHost } from "../../src/relay/find-host.ts";
import { runRelay } from "../../src/relay/relay.ts";
import { createRunFolder, type RunFolder, runFolderOf } from "../../src/relay/run-folder.ts";
import type { RelayClient, RelayName } from "../../src/relay/speech.ts";

/** How the host answers one request; `send` announces that the request is passed on to its server. */
export type Answer = (
  method: string,
  params: JsonObject,
  request: ServedRequest & {
    readonly client: ServedClient;
    readonly send: () => Promise<void>;
    readonly names: GatewayClient["names"];
  },
) => Promise<JsonObject>;

export type Message = Readonly<Record<string, unknown>>;

export interface Scene extends AsyncDisposable {
  readonly folder: RunFolder;
  /** What all hosts of the scene have received, as `host method`. */
  readonly received: readonly string[];
  /** The notifications that hosts have received. */
  send(message: object): void;
  write(text: string): void;
  /** The client's next message. */
  next(): Promise<Message>;
  /** The client's next message with that id. */
  answer(id: number | string): Promise<Message>;
  /** Ends the connection as a killed host does. */
  cut(): void;
  /** Ends the host as `fairlead daemon stop` does; resolves when the relay has noticed. */
  stop(): Promise<void>;
  /** The next host cannot serve the client, for this reason. */
  failNext(reason: string): void;
  /** How many hosts there were. */
  hosts(): number;
  /** What the user was told. */
  readonly problems: readonly string[];
  /** Closes the client's end; resolves when the relay has ended. */
  end(): Promise<void>;
  /** Ends like a client that is killed: it also reads nothing more. */
  kill(): Promise<void>;
}

export const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
export const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };

export function callOf(id: number | string, name = "write_file"): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: { id } } };
}

const greeting: JsonObject = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: { listChanged: true }, prompts: {}, resources: { listChanged: true } },
  serverInfo: { name: "stand-in", version: "1" },
};

/** A gateway that answers `initialize` itself and leaves everything else to `answer`. */
export function standInGateway(
  answer: Answer,
  note: (line: string) => void = () => {},
): Pick<Gateway, "serve" | "serveCommand" | "status"> {
  return {
    async serve(open, gatewayClient: GatewayClient) {
      const served = serveClient(open, (client) => ({
        async request(method, params, request) {
          note(method);
          if (method === "initialize") return greeting;
          const send = async (): Promise<void> =>
            gatewayClient.beforeSend?.(request.id, `files.${String(params["name"])}`);
          return answer(method, params, {
            id: request.id,
            signal: request.signal,
            client,
            send,
            names: gatewayClient.names,
          });
        },
        notification: (method) => note(method),
      }));
      await served.closed;
    },
    serveCommand: () => Promise.reject(new Error("not here")),
    status: () => ({ clients: [], servers: [] }),
  };
}

export const relayClient: RelayClient = { name: "test", cwd: "/", env: {}, workspace: true, trustWorkspace: false };

/** @param answers How each host in turn answers; the last one stays. */
export async function relayScene(...answers: readonly Answer[]): Promise<Scene> {
  const temporary = await temporaryFolder();
  const folder = runFolderOf({
    state: temporary.path,
    installation: "test",
    temporary: temporary.path,
    platform: process.platform,
  });
  createRunFolder(folder);
  const received: string[] = [];
  const problems: string[] = [];
  let hosts = 0;
  let listener: RelayListener | undefined;
  let connection: HostConnection | undefined;
  let failure: string | undefined;

  async function startHost(names: readonly RelayName[] = []): Promise<HostConnection> {
    await listener?.close();
    const answer = answers[Math.min(hosts, answers.length - 1)];
    hosts += 1;
    const host = hosts;
    if (answer === undefined) throw new Error("no more hosts");
    await temporary.write("run/1-test/token", "secret");
    listener = await listenForRelays({
      folder,
      token: "secret",
      version: "1",
      gateway: standInGateway(answer, (method) => received.push(`${host} ${method}`)),
      async workspaceOf() {
        const reason = failure;
        failure = undefined;
        if (reason !== undefined) throw new Error(reason);
        return { cwd: "/", env: {} };
      },
      commandWorkspace: () => undefined,
      onStop: () => {},
      onRetire: () => {},
    });
    connection = await findHost(folder, { version: "1", wants: "serve", client: { ...relayClient, names } });
    if (connection === undefined) throw new Error("the host does not listen");
    return connection;
  }

  // The stdin of a program may end without being closed.
  const [input, output] = [new PassThrough({ emitClose: false }), new PassThrough()];
  const ended = runRelay({
    input,
    output,
    first: await startHost(),
    reach: startHost,
    onProblem: (message) => problems.push(message),
  });
  const messages = readLines(output);

  async function next(): Promise<Message> {
    const { value } = await messages.next();
    return value as Message;
  }

  async function kill(): Promise<void> {
    input.end();
    output.destroy();
    await ended;
  }

  return {
    folder,
    received,
    problems,
    send: (message) => void input.write(`${JSON.stringify(message)}\n`),
    write: (text) => void input.write(text),
    next,
    async answer(id) {
      for (;;) {
        const message = await next();
        if (message["id"] === id && message["method"] === undefined) return message;
      }
    },
    cut: () => void connection?.socket.destroy(),
    async stop() {
      const closed = new Promise((resolve) => connection?.socket.once("close", resolve));
      await listener?.close();
      listener = undefined;
      await closed;
    },
    failNext(reason) {
      failure = reason;
    },
    hosts: () => hosts,
    async end() {
      input.end();
      await ended;
    },
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
      await listener?.close();
      await temporary[Symbol.asyncDispose]();
    },
  };
}

async function* readLines(output: PassThrough): AsyncGenerator<Message> {
  let rest = "";
  for await (const chunk of output) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Message;
  }
}
