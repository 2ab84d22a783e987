/**
 * A stand-in for the IDE's companion, the extension that tells Gemini CLI and Fairlead whether the IDE trusts its
 * folders. It stops at the end of the scope.
 */

import { randomUUID } from "node:crypto";
import { chmod } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { TemporaryFolder } from "./temporary-folder.ts";
import { status } from "./web-replies.ts";
import { type WebReply, type WebRequest, type WebServer, webServer } from "./web-server.ts";

export interface IdeCompanion extends AsyncDisposable {
  readonly port: number;
  readonly token: string;
  readonly seen: WebServer["seen"];
  /** How many requests had no token, or another one. */
  refused(): number;
  /** How many streams are open. */
  streams(): number;
  /** Reports `workspaceState.isTrusted`, now and to every new stream. `undefined`: the state has no such member. */
  say(isTrusted: unknown): void;
  /** Sends these parameters, now and to every new stream. */
  sendContext(params: unknown): void;
  /** Sends text on every open stream, as it is. */
  sendRaw(text: string): void;
  /** Ends every open stream. */
  endStreams(): void;
  /** The variables of an integrated terminal whose window has these folders open. */
  variables(...folders: readonly string[]): Readonly<Record<string, string>>;
  /** Writes the port file below `folder`, which stands for the system's folder for temporary files. Returns its path. */
  writePortFile(folder: TemporaryFolder, file: PortFile): Promise<string>;
}

/** What to write into a port file. `process`: the id of the IDE's process. `more`: members to add or to replace. */
interface PortFile {
  readonly process: number;
  readonly workspace: string;
  readonly below?: string;
  readonly more?: object;
}

/** Replies instead of the companion's own. `initialize` and `initialized` are POST requests, `stream` is the GET. */
export interface CompanionFaults {
  readonly initialize?: WebReply;
  readonly initialized?: WebReply;
  readonly stream?: WebReply;
  readonly end?: WebReply;
}

/** Starts a companion that trusts its folders, unless `isTrusted` says something else. */
export async function ideCompanion(
  { isTrusted = true, port: wanted = 0 }: { readonly isTrusted?: unknown; readonly port?: number } = {},
  faults: CompanionFaults = {},
): Promise<IdeCompanion> {
  const token = randomUUID();
  const session = randomUUID();
  const streams = new Set<ServerResponse>();
  let refused = 0;
  let params: unknown = stateOf(isTrusted);

  const server = await webServer((request, response) => replyTo(request)(request, response), { port: wanted });
  const port = Number(new URL(server.origin).port);

  function replyTo({ method, path, headers, body }: WebRequest): WebReply {
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
    if (headers.origin !== undefined || !hosts.includes(headers.host ?? "")) return status(403);
    if (headers.authorization !== `Bearer ${token}`) {
      refused += 1;
      return status(401);
    }
    if (path !== "/mcp") return status(404);
    if (method === "DELETE") return faults.end ?? status(404);
    const isKnown = headers["mcp-session-id"] === session;
    if (method === "GET") return faults.stream ?? (isKnown ? openStream : status(400));
    const { method: called } = JSON.parse(body) as { readonly method?: string };
    if (called === "initialize") return faults.initialize ?? greet;
    return faults.initialized ?? status(isKnown ? 202 : 400);
  }

  /** The SDK that the companion uses answers with an event stream. */
  const greet: WebReply = ({ body }, response) => {
    const { id } = JSON.parse(body) as { readonly id?: unknown };
    response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": session });
    response.end(eventOf({ jsonrpc: "2.0", id, result: greeting }));
  };

  const openStream: WebReply = (_, response) => {
    streams.add(response);
    response.on("close", () => streams.delete(response));
    response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": session });
    response.write(updateOf(params));
  };

  function sendRaw(text: string): void {
    for (const stream of streams) stream.write(text);
  }

  function sendContext(next: unknown): void {
    params = next;
    sendRaw(updateOf(params));
  }

  return {
    port,
    token,
    seen: server.seen,
    refused: () => refused,
    streams: () => streams.size,
    say: (next) => sendContext(stateOf(next)),
    sendContext,
    sendRaw,
    endStreams() {
      for (const stream of streams) stream.end();
    },
    variables: (...folders) => ({
      TERM_PROGRAM: "vscode",
      GEMINI_CLI_IDE_SERVER_PORT: String(port),
      GEMINI_CLI_IDE_WORKSPACE_PATH: folders.join(":"),
      GEMINI_CLI_IDE_AUTH_TOKEN: token,
    }),
    async writePortFile(folder, { process, workspace, below = "tmp", more = {} }) {
      const name = join(below, "gemini", "ide", `gemini-ide-server-${process}-${port}.json`);
      const file = await folder.write(name, { port, workspacePath: workspace, authToken: token, ...more });
      await chmod(file, 0o600);
      return file;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const greeting = {
  protocolVersion: "2025-06-18",
  capabilities: { logging: {}, tools: { listChanged: true } },
  serverInfo: { name: "gemini-cli-companion-mcp-server", version: "1.0.0" },
};

function stateOf(isTrusted: unknown): object {
  return { workspaceState: { openFiles: [], ...(isTrusted !== undefined && { isTrusted }) } };
}

function updateOf(params: unknown): string {
  return eventOf({ jsonrpc: "2.0", method: "ide/contextUpdate", params });
}

function eventOf(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}
