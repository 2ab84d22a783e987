/**
 * Many callers at once, each of them like a client behind a balancer: a call goes to a replica that is ready, and is sent
 * again only if the replica did not take the connection.
 */

import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import type { ReplicaProcess } from "./team-scene.ts";

/** What clients know: the first of three independent books. */
export interface Load {
  /** Calls with an answer. */
  readonly completed: readonly string[];
  /** Calls whose connection was lost: they may have run. */
  readonly unknown: readonly string[];
  /** Calls that the gateway has answered with an error. */
  readonly refused: readonly string[];
  add(replica: ReplicaProcess): void;
  /** Resolves when so many more calls are completed. */
  more(count: number): Promise<void>;
  /** Resolves when all calls that were sent have ended. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly server: string;
  readonly tokens: readonly string[];
  readonly callers: number;
}

const version = "2026-07-28";
/** Milliseconds between two looks at `/readyz`. */
const interval = 50;

export function startLoad(first: readonly ReplicaProcess[], { server, tokens, callers }: LoadOptions): Load {
  const targets = new Map(first.map((replica) => [replica.origin, { isReady: true }]));
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const books = { completed: [] as string[], unknown: [] as string[], refused: [] as string[] };
  const waiting = new Set<() => void>();
  let isOver = false;
  let turn = 0;

  async function watch(origin: string): Promise<void> {
    const target = targets.get(origin);
    while (!isOver && target !== undefined) {
      const status = await fetch(`${origin}/readyz`).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        () => 0,
      );
      target.isReady = status === 200;
      await new Promise((resolve) => setTimeout(resolve, interval));
    }
  }

  function send(origin: string, id: string, token: string): Promise<"completed" | "refused" | "unknown" | "not sent"> {
    const params = {
      name: "count",
      arguments: { id },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { name: "load", version: "1" },
      },
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
    return new Promise((resolve) => {
      const outgoing = request(
        `${origin}/mcp/${server}`,
        {
          method: "POST",
          agent,
          headers: {
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "mcp-protocol-version": version,
            "mcp-method": "tools/call",
            "mcp-name": "count",
          },
        },
        (response) => {
          let text = "";
          response.on("data", (chunk: Buffer) => {
            text += String(chunk);
          });
          response.on("end", () => resolve(text.includes('"content"') ? "completed" : "refused"));
          response.on("error", () => resolve("unknown"));
        },
      );
      outgoing.on("error", (error: NodeJS.ErrnoException) =>
        resolve(error.code === "ECONNREFUSED" ? "not sent" : "unknown"),
      );
      outgoing.end(body);
    });
  }

  async function call(token: string): Promise<void> {
    const id = randomUUID();
    for (;;) {
      const ready = [...targets].filter(([, { isReady }]) => isReady).map(([origin]) => origin);
      turn += 1;
      const origin = ready[turn % ready.length];
      const outcome = origin === undefined ? "not sent" : await send(origin, id, token);
      if (outcome === "not sent") {
        await new Promise((resolve) => setTimeout(resolve, interval));
        continue;
      }
      books[outcome].push(id);
      for (const look of waiting) look();
      return;
    }
  }

  const watching = first.map(({ origin }) => watch(origin));
  const calling = Array.from({ length: callers }, async (_, at) => {
    while (!isOver) await call(tokens[at % tokens.length] ?? "");
  });
  return {
    ...books,
    add({ origin }) {
      targets.set(origin, { isReady: true });
      watching.push(watch(origin));
    },
    more(count) {
      const wanted = books.completed.length + count;
      return new Promise((resolve) => {
        const look = (): void => {
          if (books.completed.length < wanted) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    },
    async stop() {
      isOver = true;
      await Promise.all([...calling, ...watching]);
      agent.destroy();
    },
  };
}
