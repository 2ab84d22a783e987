/** Accepts connections of relays on the private socket, checks their tokens and serves their clients. */

import { randomUUID, timingSafeEqual } from "node:crypto";
import { chmodSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { isObject, parseJson } from "@fairlead/wire/json";
import { type OpenChannel, openClientStdio, type RequestId } from "@fairlead/wire/serve";
import { errorMessage } from "@fairlead/wire/text";
import type { Gateway, Workspace } from "../gateway.ts";
import type { RunFolder } from "../relay/run-folder.ts";
import { createSentFile, type SentFile } from "../relay/sent-file.ts";
import {
  byeLine,
  failedLine,
  type Hello,
  type RelayClient,
  type RelayRefusal,
  sentLine,
  speechNumber,
  type Welcome,
} from "../relay/speech.ts";

/** What the listener needs from the background host. */
export interface RelayListenerOptions {
  readonly folder: RunFolder;
  readonly token: string;
  readonly version: string;
  readonly gateway: Pick<Gateway, "serve" | "status">;
  /** The host's environment variable `PATH`, which `fairlead daemon status` shows. */
  readonly path?: string | undefined;
  /** Returns the folder, the environment and the options of a client. */
  readonly workspaceOf: (client: RelayClient) => Promise<Workspace>;
  /** Called when `fairlead daemon stop` asks the host to end. */
  readonly onStop: () => void;
  /** Called when a newer host replaces this one. This host keeps its clients and accepts no new ones. */
  readonly onRetire: () => void;
}

/** The open socket of a background host. */
export interface RelayListener {
  /** Refuses new clients from now on. */
  retire(): void;
  /** Tells all clients that the host ends, and stops listening. */
  close(): Promise<void>;
}

/** Maximum length of a relay's first line, in bytes. The line contains the client's environment, so it may be long. */
const helloBytes = 4 * 1024 * 1024;
/** A relay must send its first line within this many milliseconds. */
const helloTime = 10_000;

/** Listens on the socket of the run folder. Except on Windows, only this user can connect. */
export async function listenForRelays(options: RelayListenerOptions): Promise<RelayListener> {
  const { folder, token, version, gateway, path, workspaceOf, onStop, onRetire } = options;
  const sockets = new Set<Socket>();
  let isRetired = false;
  let isClosing = false;

  function welcome(socket: Socket, more: object = {}): void {
    socket.write(line({ fairlead: speechNumber, pid: process.pid, version, ...more }));
  }

  function refuse(socket: Socket, refused: RelayRefusal, message: string): void {
    socket.end(line({ fairlead: speechNumber, refused, message }));
  }

  async function serve(socket: Socket, client: RelayClient): Promise<void> {
    const sentPath = join(folder.path, `${randomUUID()}.sent`);
    const sent = tryCreate(sentPath);
    welcome(socket, sent && { sentFile: sentPath });
    const { name, servers, tools } = client;
    function beforeSend(id: RequestId, subject: string): Promise<void> | undefined {
      try {
        if (sent !== undefined) {
          sent.add(id, subject);
          return undefined;
        }
      } catch {
        // The file cannot be written, for example because the disk is full. Sends a `sent` line instead.
      }
      return written(socket, sentLine(id, subject));
    }
    try {
      const workspace = await workspaceOf(client);
      await gateway.serve(
        openRelaySocket(socket, sent),
        { name, conversation: randomUUID(), beforeSend, ...(servers && { servers }), ...(tools && { tools }) },
        workspace,
      );
      socket.end();
    } catch (error) {
      const next = error instanceof HostError ? error.next : undefined;
      socket.end(failedLine(errorMessage(error), next));
    } finally {
      // When the host ends, the relay still needs the file. It reads the file and then removes it.
      sent?.close({ keep: isClosing });
    }
  }

  /** Returns why the connection is refused, or undefined if it is accepted. */
  function refusalOf({ fairlead, token: given, wants, client }: Hello): readonly [RelayRefusal, string] | undefined {
    if (fairlead !== speechNumber)
      return ["speech", `the versions of the relay protocol differ: the host uses version ${speechNumber}`];
    if (!isSame(given, token)) return ["token", "the token is wrong"];
    if (wants !== "serve") return undefined;
    if (isRetired) return ["retired", "a newer version of Fairlead has replaced this host"];
    return isClient(client) ? undefined : ["invalid", "the relay's first line does not describe its client"];
  }

  function take(socket: Socket, hello: Hello): void {
    const refusal = refusalOf(hello);
    if (refusal !== undefined) refuse(socket, ...refusal);
    else if (hello.wants === "serve" && hello.client !== undefined) void serve(socket, hello.client);
    else {
      welcome(socket, hello.wants === "status" ? { status: { ...gateway.status(), path } } : {});
      socket.end();
      if (hello.wants === "stop") onStop();
      if (hello.wants === "retire") onRetire();
    }
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    readHello(socket, (hello) => {
      if (hello === undefined) refuse(socket, "invalid", "the relay's first line cannot be read");
      else take(socket, hello);
    });
  });
  await begin(server, folder.socket);

  return {
    retire() {
      isRetired = true;
    },
    async close() {
      isClosing = true;
      const closed = new Promise((resolve) => server.close(resolve));
      await Promise.all([...sockets].map((socket) => written(socket, byeLine)));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function tryCreate(path: string): SentFile | undefined {
  try {
    return createSentFile(path);
  } catch {
    return undefined;
  }
}

async function begin(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(path, resolve);
  });
  server.removeAllListeners("error").on("error", () => {});
  // A named pipe on Windows has no file mode.
  if (!path.startsWith("\\\\")) chmodSync(path, 0o600);
}

/** If the relay disconnects, the channel closes, which cancels the client's open requests. */
function openRelaySocket(socket: Socket, sent: SentFile | undefined): OpenChannel {
  return async (events, signal) => {
    const channel = await openClientStdio({ input: socket, output: socket })(events, signal);
    const close = (): void => void channel.close();
    socket.once("end", close).once("close", close);
    socket.resume();
    if (sent === undefined) return channel;
    /** The latest write, which may contain several responses, and the ids of their requests. */
    let writing: { readonly written: Promise<void>; readonly ids: RequestId[] } | undefined;
    return {
      ...channel,
      send(message, options) {
        const written = channel.send(message, options);
        const { id, method } = message;
        if (method !== undefined || (typeof id !== "string" && typeof id !== "number")) return written;
        if (writing?.written === written) writing.ids.push(id);
        else {
          const ids = [id];
          writing = { written, ids };
          // If the write fails, the relay has ended and no longer needs the file.
          written.then(() => {
            for (const each of ids) sent.done(each);
          }, nothing);
        }
        return written;
      },
    };
  };
}

const nothing = (): void => {};

/** Resolves when the operating system has the line. It then arrives even if this process ends. */
function written(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (!socket.writable) return resolve();
    socket.write(text, () => resolve());
  });
}

/** Calls `onHello` with the relay's first line, or with undefined if it is invalid, too long or too late. */
function readHello(socket: Socket, onHello: (hello: Hello | undefined) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => finish(undefined), helloTime);

  function finish(text: string | undefined): void {
    clearTimeout(timer);
    socket.off("data", onData).off("close", onClose).pause();
    onHello(text === undefined ? undefined : toHello(text));
  }

  function onData(chunk: Buffer): void {
    const at = chunk.indexOf(0x0a);
    chunks.push(at === -1 ? chunk : chunk.subarray(0, at));
    size += chunk.length;
    if (at === -1 && size <= helloBytes) return;
    const isWhole = at !== -1;
    const rest = chunk.subarray(at + 1);
    finish(isWhole ? Buffer.concat(chunks).toString("utf8") : undefined);
    if (isWhole && rest.length > 0) socket.unshift(rest);
  }

  function onClose(): void {
    clearTimeout(timer);
  }

  socket.on("data", onData).on("close", onClose);
}

function toHello(text: string): Hello | undefined {
  const value = parseJson(text);
  return isHello(value) ? value : undefined;
}

function isHello(value: unknown): value is Hello {
  return (
    isObject(value) &&
    typeof value["fairlead"] === "number" &&
    typeof value["token"] === "string" &&
    ["serve", "status", "stop", "retire"].includes(String(value["wants"]))
  );
}

function isClient(value: unknown): value is RelayClient {
  return (
    isObject(value) &&
    typeof value["name"] === "string" &&
    typeof value["cwd"] === "string" &&
    isObject(value["env"]) &&
    isNames(value["servers"]) &&
    isNames(value["tools"])
  );
}

function isNames(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((each) => typeof each === "string"));
}

function isSame(given: string, token: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(token)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function line(value: Welcome | object): string {
  return `${JSON.stringify(value)}\n`;
}
