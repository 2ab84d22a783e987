/** Accepts connections of relays on the private socket, checks their tokens and serves their clients. */

import { randomUUID, timingSafeEqual } from "node:crypto";
import { chmodSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { type Clock, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import type { SeenName } from "@fairlead/core/server";
import { isObject, parseJson } from "@fairlead/wire/json";
import { createUnusedConnections, type OpenChannel, openClientStdio, type RequestId } from "@fairlead/wire/serve";
import { errorMessage } from "@fairlead/wire/text";
import type { Gateway, Workspace } from "../gateway.ts";
import type { RunFolder } from "../relay/run-folder.ts";
import { createSentFile, type SentFile } from "../relay/sent-file.ts";
import {
  byeLine,
  type CommandCaller,
  failedLine,
  type Hello,
  isRelayNames,
  namesLine,
  type RelayClient,
  type RelayRefusal,
  sentLine,
  speechNumber,
  toSeenNames,
  type Welcome,
} from "../relay/speech.ts";

/** What the listener needs from the background host. */
export interface RelayListenerOptions {
  readonly folder: RunFolder;
  readonly token: string;
  readonly version: string;
  readonly gateway: Pick<Gateway, "serve" | "serveCommand" | "status">;
  /** The host's environment variable `PATH`, which `fairlead daemon status` shows. */
  readonly path?: string | undefined;
  /** Returns the folder, the environment and the options of a client. */
  readonly workspaceOf: (client: RelayClient) => Promise<Workspace>;
  /** Returns the same of a command; undefined if this host has another home folder than the command. */
  readonly commandWorkspace: (command: CommandCaller) => Workspace | undefined;
  /** Called when `fairlead daemon stop` asks the host to end. */
  readonly onStop: () => void;
  /** Called when a newer host replaces this one. This host keeps its clients and accepts no new ones. */
  readonly onRetire: () => void;
  /** Writes a line to the host's log. */
  readonly note?: (text: string) => void;
  /**
   * A client that has read nothing for this many milliseconds, although something waits for it, is disconnected.
   * Default: 30 seconds.
   */
  readonly unreadTime?: number;
  readonly clock?: Pick<Clock, "after">;
}

/** The open socket of a background host. */
export interface RelayListener {
  /** Refuses new clients from now on. */
  retire(): void;
  /** Tells all clients that the host ends, and stops listening. */
  close(): Promise<void>;
}

/**
 * Maximum length of a relay's first line, in bytes. The line contains the client's environment and the names that the
 * client has seen, so it may be long.
 */
const helloBytes = 32 * 1024 * 1024;
/** Maximum size of all first lines that are not complete, in bytes. */
const allHelloBytes = 2 * helloBytes;
/**
 * A connection that serves no client is destroyed after this many milliseconds: its first line is late, or the other
 * side does not close it after the host's answer.
 */
const unusedTime = 10_000;
/** With more connections that serve no client, the oldest is destroyed. A served client needs two file descriptors. */
const mostUnused = 256;
const mostClients = 256;
const defaultUnreadTime = 30_000;
/** Milliseconds that an ending host waits until its clients have its last line. */
const byeTime = 1000;

/** Listens on the socket of the run folder. Except on Windows, only this user can connect. */
export async function listenForRelays(options: RelayListenerOptions): Promise<RelayListener> {
  const { folder, token, version, gateway, path, workspaceOf, commandWorkspace, onStop, onRetire } = options;
  const { note = nothing, unreadTime = defaultUnreadTime, clock = systemClock } = options;
  const sockets = new Set<Socket>();
  const unused = createUnusedConnections({ most: mostUnused, time: unusedTime, clock });
  const readHello = createHelloReader();
  let clients = 0;
  let isRetired = false;
  let isClosing = false;

  function welcome(socket: Socket, more: object = {}): void {
    socket.write(line({ fairlead: speechNumber, pid: process.pid, version, ...more }));
  }

  function refuse(socket: Socket, refused: RelayRefusal, message: string): void {
    finish(socket, line({ fairlead: speechNumber, refused, message }));
  }

  /** Sends the host's last line. The other side then closes the connection. */
  function finish(socket: Socket, last = ""): void {
    unused.add(socket);
    // The end of the connection is noticed only after everything before it was read.
    socket.resume().end(last);
  }

  async function serve(socket: Socket, client: RelayClient): Promise<void> {
    unused.remove(socket);
    clients += 1;
    const sentPath = join(folder.path, `${randomUUID()}.sent`);
    const sent = createSentFile(sentPath);
    welcome(socket, { sentFile: sentPath });
    const { name, servers, tools, names: earlier = [] } = client;
    const names = {
      earlier: toSeenNames(earlier),
      onSeen: (seen: readonly SeenName[]): void => void socket.write(namesLine(seen)),
    };
    let isRelayTold = false;
    endUnread(socket, name);
    function beforeSend(id: RequestId, subject: string): Promise<void> | undefined {
      try {
        sent.add(id, subject);
      } catch {
        // The file cannot be written, for example because the disk is full. Sends a `sent` line instead.
        return written(socket, sentLine(id, subject));
      }
      // From the first record on, the relay knows that there must be a file, so that it notices if the file is removed.
      if (!isRelayTold) socket.write(sentLine(id, subject));
      isRelayTold = true;
      return undefined;
    }
    try {
      const workspace = await workspaceOf(client);
      await gateway.serve(
        openRelaySocket(socket, sent),
        { name, conversation: randomUUID(), beforeSend, names, servers, tools },
        workspace,
      );
      finish(socket);
    } catch (error) {
      const next = error instanceof HostError ? error.next : undefined;
      finish(socket, failedLine(errorMessage(error), next));
    } finally {
      clients -= 1;
      // When the host ends, the relay still needs the file. It reads the file and then removes it.
      sent.close({ keep: isClosing });
    }
  }

  async function serveCommand(socket: Socket, { name }: CommandCaller, workspace: Workspace): Promise<void> {
    unused.remove(socket);
    clients += 1;
    welcome(socket);
    endUnread(socket, name);
    try {
      await gateway.serveCommand(openSocket(socket), name, workspace);
      finish(socket);
    } catch (error) {
      note(`the command ${name} was not served: ${errorMessage(error)}`);
      socket.destroy();
    } finally {
      clients -= 1;
    }
  }

  /** Disconnects a client that reads nothing. Node restarts this time whenever the client has read something. */
  function endUnread(socket: Socket, name: string): void {
    socket.setTimeout(unreadTime, () => {
      if (socket.writableLength === 0) return;
      note(`the client ${name} is disconnected: it has read nothing for ${unreadTime / 1000} s`);
      socket.destroy();
    });
  }

  /** Returns why the connection is refused, or undefined if it is accepted. */
  function refusalOf({
    fairlead,
    token: given,
    wants,
    client,
    command,
  }: Hello): readonly [RelayRefusal, string] | undefined {
    if (fairlead !== speechNumber)
      return ["speech", `the versions of the relay protocol differ: the host uses version ${speechNumber}`];
    if (!isSame(given, token)) return ["token", "the token is wrong"];
    if (wants !== "serve" && wants !== "command") return undefined;
    if (isRetired) return ["retired", "a newer version of Fairlead has replaced this host"];
    if (clients >= mostClients) return ["busy", `it already serves ${mostClients} clients`];
    if (wants === "command" ? isCommand(command) : isClient(client)) return undefined;
    return ["invalid", "the first line does not describe the client"];
  }

  function take(socket: Socket, hello: Hello): void {
    const refusal = refusalOf(hello);
    if (refusal !== undefined) refuse(socket, ...refusal);
    else if (hello.wants === "command" && hello.command !== undefined) {
      const workspace = commandWorkspace(hello.command);
      if (workspace === undefined) refuse(socket, "home", "it was started with another home folder");
      else void serveCommand(socket, hello.command, workspace);
    } else if (hello.wants === "serve" && hello.client !== undefined) void serve(socket, hello.client);
    else {
      welcome(socket, hello.wants === "status" ? { status: { ...gateway.status(), path } } : {});
      finish(socket);
      if (hello.wants === "stop") onStop();
      if (hello.wants === "retire") onRetire();
    }
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    unused.add(socket);
    const onClose = (): void => {
      sockets.delete(socket);
      unused.remove(socket);
    };
    socket.on("close", onClose).on("error", () => socket.destroy());
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
      let callOff: () => void = nothing;
      const late = new Promise<void>((resolve) => {
        callOff = clock.after(byeTime, resolve);
      });
      await Promise.race([late, Promise.all([...sockets].map((socket) => written(socket, byeLine)))]);
      callOff();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function begin(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(path, resolve);
  });
  server.removeAllListeners("error").on("error", () => {});
  try {
    // A named pipe on Windows has no file mode.
    if (!path.startsWith("\\\\")) chmodSync(path, 0o600);
  } catch (error) {
    server.close();
    throw error;
  }
}

/** If the other side disconnects, the channel closes, which cancels its open requests. */
function openSocket(socket: Socket): OpenChannel {
  return async (events, signal) => {
    const channel = await openClientStdio({ input: socket, output: socket }, { times })(events, signal);
    const close = (): void => void channel.close();
    socket.once("end", close).once("close", close);
    socket.resume();
    return channel;
  };
}

/** The channel of a relay. It notes in the file which requests have their responses. */
function openRelaySocket(socket: Socket, sent: SentFile): OpenChannel {
  return async (events, signal) => {
    const channel = await openSocket(socket)(events, signal);
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

/** A response may take any time, as long as the client reads. `unreadTime` ends a connection on which it does not. */
const times = { send: Number.POSITIVE_INFINITY };

/** Resolves when the operating system has the line. It then arrives even if this process ends. */
function written(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (!socket.writable) return resolve();
    socket.write(text, () => resolve());
  });
}

type ReadHello = (socket: Socket, onHello: (hello: Hello | undefined) => void) => void;

/** Returns the function that calls `onHello` with a relay's first line, or with undefined if it is invalid or too long. */
function createHelloReader(): ReadHello {
  /** The bytes of all first lines that are not complete. */
  let waiting = 0;

  return (socket, onHello) => {
    const chunks: Buffer[] = [];
    let size = 0;

    function leave(): void {
      waiting -= size;
      size = 0;
      socket.off("data", onData).off("close", leave);
    }

    function onData(chunk: Buffer): void {
      const at = chunk.indexOf(0x0a);
      chunks.push(at === -1 ? chunk : chunk.subarray(0, at));
      size += chunk.length;
      waiting += chunk.length;
      const isWhole = at !== -1;
      if (!isWhole && size <= helloBytes && waiting <= allHelloBytes) return;
      leave();
      socket.pause();
      onHello(isWhole ? toHello(Buffer.concat(chunks).toString("utf8")) : undefined);
      const rest = chunk.subarray(at + 1);
      if (isWhole && rest.length > 0) socket.unshift(rest);
    }

    socket.on("data", onData).on("close", leave);
  };
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
    ["serve", "command", "status", "stop", "retire"].includes(String(value["wants"]))
  );
}

function isClient(value: unknown): value is RelayClient {
  return (
    isObject(value) &&
    typeof value["name"] === "string" &&
    typeof value["cwd"] === "string" &&
    isObject(value["env"]) &&
    (value["names"] === undefined || isRelayNames(value["names"])) &&
    isNames(value["servers"]) &&
    isNames(value["tools"])
  );
}

function isCommand(value: unknown): value is CommandCaller {
  return (
    isObject(value) &&
    ["name", "home", "cwd"].every((member) => typeof value[member] === "string") &&
    isObject(value["env"]) &&
    Object.values(value["env"]).every((each) => each === null || typeof each === "string") &&
    isObject(value["inherited"]) &&
    Object.values(value["inherited"]).every((each) => typeof each === "string") &&
    isObject(value["options"])
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
