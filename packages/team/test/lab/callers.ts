/**
 * Callers who send one call after the other through a balancer: round robin without stickiness, over replicas that say
 * that they are ready. They keep the client's book. A call that was sent is never sent again.
 */

import { Agent, request } from "node:http";
import type { Replica } from "./replica.ts";

/** What the client knows of a call. */
export interface CallRecord {
  readonly id: string;
  readonly caller: number;
  readonly replica: Replica | undefined;
  /** `refused`: an answer said that it was not done. `lost`: no answer came, so it may have been done. */
  readonly outcome: "done" | "refused" | "lost";
  readonly why: string;
  /** `performance.now()` */
  readonly begun: number;
  readonly ended: number;
}

export interface CallerOptions {
  readonly replicas: readonly Replica[];
  /** The access token of each user. Callers use them in turn. */
  readonly tokens: readonly string[];
  readonly callers: number;
  /** The `Host` of the gateway's public address. */
  readonly host: string;
  /** The path of the endpoint of one server, such as `/mcp/up`. */
  readonly path: string;
  /** Whether calls go to replicas that are not ready, as if there were no balancer. */
  readonly toAll?: boolean;
}

/** Milliseconds between two checks of a replica's readiness. */
const checkInterval = 200;

export class Callers implements AsyncDisposable {
  readonly book: CallRecord[] = [];
  readonly #options: CallerOptions;
  readonly #agents = new Map<Replica, Agent>();
  readonly #up: Set<Replica>;
  readonly #running: Promise<void>[] = [];
  #turn = 0;
  #count = 0;
  #isStopped = false;
  #left = Number.POSITIVE_INFINITY;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#up = new Set(options.replicas);
    for (const replica of options.replicas)
      this.#agents.set(replica, new Agent({ keepAlive: true, maxSockets: options.callers }));
  }

  /** The callers begin. They end after `calls` calls, or when they are stopped. */
  start(calls = Number.POSITIVE_INFINITY): void {
    this.#left = calls;
    this.#isStopped = false;
    const callers = Array.from({ length: this.#options.callers }, (_, caller) => this.#callAgain(caller));
    const { replicas, toAll = replicas.length === 1 } = this.#options;
    const checks = toAll ? [] : replicas.map((replica) => this.#check(replica));
    this.#running.push(
      Promise.all(callers).then(() => {
        this.#isStopped = true;
      }),
      ...checks,
    );
  }

  /** Resolves when all calls have ended. */
  async finished(): Promise<void> {
    await Promise.all(this.#running.splice(0));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.finished();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #callAgain(caller: number): Promise<void> {
    while (!this.#isStopped && this.#left > 0) {
      this.#left -= 1;
      const record = await this.#call(caller);
      this.book.push(record);
      // Callers who are refused would otherwise ask as fast as they can.
      if (record.outcome !== "done") await pause(50);
    }
  }

  async #check(replica: Replica): Promise<void> {
    while (!this.#isStopped) {
      if ((await replica.readiness())?.isReady === true) this.#up.add(replica);
      else this.#up.delete(replica);
      await pause(checkInterval);
    }
  }

  async #call(caller: number): Promise<CallRecord> {
    this.#count += 1;
    const { tokens } = this.#options;
    const id = `call-${process.pid}-${this.#count}-${performance.now().toString(36)}`;
    const begun = performance.now();
    const token = tokens[this.#count % tokens.length] ?? "";
    for (;;) {
      const replica = this.#next();
      const answer: Answer =
        replica === undefined
          ? { outcome: "refused", why: "no replica is ready" }
          : await this.#send(replica, id, token);
      // The balancer takes another replica for a request that was not sent.
      if (answer.outcome === "unsent" && replica !== undefined && this.#up.size > 1) {
        this.#up.delete(replica);
        continue;
      }
      const outcome = answer.outcome === "unsent" ? "refused" : answer.outcome;
      return { id, caller, replica, outcome, why: answer.why, begun, ended: performance.now() };
    }
  }

  #next(): Replica | undefined {
    const up = this.#options.replicas.filter((replica) => this.#up.has(replica));
    this.#turn += 1;
    return up[this.#turn % up.length];
  }

  #send(replica: Replica, id: string, token: string): Promise<Answer> {
    const { host, path } = this.#options;
    const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: paramsOf(id) });
    return new Promise((resolve) => {
      const headers = {
        ...protocolHeaders,
        host,
        authorization: `Bearer ${token}`,
        "content-length": Buffer.byteLength(body),
      };
      const { address, port } = replica;
      const options = { host: address, port, path, method: "POST", agent: this.#agents.get(replica), headers };
      const sent = request(options, (response) => {
        let text = "";
        response
          .setEncoding("utf8")
          .on("data", (part: string) => {
            text += part;
          })
          .on("error", ({ message }) => resolve({ outcome: "lost", why: message }))
          .on("end", () => resolve(answerOf(response.statusCode ?? 0, text)));
      });
      sent.on("error", (error: NodeJS.ErrnoException) => {
        const isUnsent = error.code === "ECONNREFUSED";
        resolve({ outcome: isUnsent ? "unsent" : "lost", why: error.message });
      });
      sent.end(body);
    });
  }
}

interface Answer {
  readonly outcome: CallRecord["outcome"] | "unsent";
  readonly why: string;
}

const protocolVersion = "2026-07-28";
const protocolHeaders = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": protocolVersion,
  "mcp-method": "tools/call",
  "mcp-name": "work",
};

function paramsOf(id: string): object {
  return {
    name: "work",
    arguments: { id },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": protocolVersion,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "lab", version: "1" },
      "example.com/call": id,
    },
  };
}

/** Only a result without an error says that the call was done. */
function answerOf(status: number, text: string): Answer {
  const json = text.startsWith("{") ? text : (/^data: *(\{.*"(?:result|error)".*)$/m.exec(text)?.[1] ?? "{}");
  const message = JSON.parse(json) as {
    readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text?: string }[] };
    readonly error?: { readonly message?: string };
  };
  if (message.result?.content !== undefined && message.result.isError !== true) return { outcome: "done", why: "" };
  const why = message.error?.message ?? message.result?.content?.[0]?.text ?? "no answer";
  // The gateway says of a call whose outcome it does not know that it may have run.
  return { outcome: /may or may not have run/.test(why) ? "lost" : "refused", why: `${status} ${why}` };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
