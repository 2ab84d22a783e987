/**
 * Continues calls that wait at another replica: a server has asked in the middle of a call, and the client sends its
 * answers to any replica. Both sides exchange messages through the store.
 */

import { randomUUID } from "node:crypto";
import { type Clock, sleep } from "@fairlead/core/clock";
import { rpcCodes, rpcError, toRpcError } from "@fairlead/gateway/bridge/rpc-error";
import type { Gateway } from "@fairlead/gateway/gateway";
import type { ModernRequest, ParkedElsewhere } from "@fairlead/gateway/questions/parked-calls";
import type { JsonObject } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import { addressHint, type Hints } from "../store/hints.ts";
import type { MessageStore } from "../store/messages.ts";
import type { Log } from "./log.ts";

export interface ParkedElsewhereOptions {
  /** The name of this replica. */
  readonly process: string;
  readonly messages: MessageStore;
  readonly hints: Hints;
  readonly clock: Clock;
  readonly log: Log;
  /** In milliseconds since 1970. */
  readonly now: () => number;
}

type Mail = { readonly id: string; readonly from: string } & (
  | {
      readonly kind: "resume";
      readonly request: Pick<ModernRequest, "id" | "client" | "identity" | "capabilities" | "logLevel">;
      readonly state: string;
      readonly answers: unknown;
    }
  | { readonly kind: "cancel" }
  /** Asks whether the replica still works on the request. */
  | { readonly kind: "ping" }
  | { readonly kind: "working" }
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "error"; readonly code: number; readonly message: string; readonly data: unknown }
);

/** Milliseconds that a message is kept. */
const kept = 60_000;
/** Milliseconds without a sign of the other replica after which it has ended, and between two questions to it. */
const times = { silence: 10_000, ping: 5000 } as const;

interface WaitingResume {
  heard(): void;
  settle(mail: Mail): void;
}

export class ParkedAtReplicas implements ParkedElsewhere, Disposable {
  readonly own: string;
  readonly #options: ParkedElsewhereOptions;
  readonly #waiting = new Map<string, WaitingResume>();
  /** The requests of other replicas that this one works on. */
  readonly #working = new Map<string, AbortController>();
  readonly #seen = new Set<number>();
  readonly #stop: () => void;
  #gateway: Pick<Gateway, "resumeParked"> | undefined;

  constructor(options: ParkedElsewhereOptions) {
    this.own = options.process;
    this.#options = options;
    const hint = addressHint(addressOf(this.own));
    this.#stop = options.hints.listen("message", (id) => {
      if (id === hint || id === undefined) this.#background(this.#read());
    });
  }

  /** Whose calls wait here. Called once, before the first request. */
  serve(gateway: Pick<Gateway, "resumeParked">): void {
    this.#gateway = gateway;
  }

  async resume(gateway: string, request: ModernRequest, state: string, answers: unknown): Promise<JsonObject> {
    const { clock } = this.#options;
    const { id: requestId, client, identity, capabilities, logLevel, signal } = request;
    const id = randomUUID();
    const ended = new AbortController();
    const answered = new Promise<Mail>((resolve) => {
      let heardAt = clock.now();
      const look = async (): Promise<void> => {
        for (;;) {
          await sleep(clock, times.ping, ended.signal, { background: true });
          if (clock.now() - heardAt > times.silence) return resolve({ ...goneMail, id, from: gateway });
          this.#send(gateway, { kind: "ping", id, from: this.own });
        }
      };
      this.#waiting.set(id, {
        heard: () => {
          heardAt = clock.now();
        },
        settle: resolve,
      });
      look().catch(() => undefined);
    });
    const cancel = (): void => this.#send(gateway, { kind: "cancel", id, from: this.own });
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const sent = { id: requestId, client, identity, capabilities, logLevel };
      this.#send(gateway, { kind: "resume", id, from: this.own, request: sent, state, answers });
      const mail = await answered;
      if (mail.kind === "result") return mail.result;
      if (mail.kind === "error") throw rpcError(mail.code, mail.message, mail.data);
      throw rpcError(rpcCodes.internal, "another replica sent an unexpected message");
    } finally {
      signal.removeEventListener("abort", cancel);
      ended.abort();
      this.#waiting.delete(id);
    }
  }

  [Symbol.dispose](): void {
    this.#stop();
    for (const stop of this.#working.values()) stop.abort();
  }

  async #read(): Promise<void> {
    for (const { number, text } of await this.#options.messages.list([addressOf(this.own)])) {
      if (this.#seen.has(number)) continue;
      this.#seen.add(number);
      // A message is kept for a minute: older numbers do not come again.
      if (this.#seen.size > mostSeen) for (const old of [...this.#seen].slice(0, mostSeen / 2)) this.#seen.delete(old);
      this.#take(JSON.parse(text) as Mail);
    }
  }

  #take(mail: Mail): void {
    const { id, from } = mail;
    const waiting = this.#waiting.get(id);
    switch (mail.kind) {
      case "resume":
        this.#background(this.#work(mail));
        break;
      case "cancel":
        this.#working.get(id)?.abort();
        break;
      case "ping":
        if (this.#working.has(id)) this.#send(from, { kind: "working", id, from: this.own });
        break;
      case "working":
        waiting?.heard();
        break;
      case "result":
      case "error":
        waiting?.settle(mail);
        break;
    }
  }

  async #work({ id, from, request, state, answers }: Extract<Mail, { kind: "resume" }>): Promise<void> {
    const stop = new AbortController();
    this.#working.set(id, stop);
    try {
      if (this.#gateway === undefined) throw new Error("the replica ends");
      const asked: ModernRequest = { ...request, signal: stop.signal, notify: () => undefined };
      const result = await this.#gateway.resumeParked(asked, state, answers);
      await this.#deliver(from, { kind: "result", id, from: this.own, result });
    } catch (error) {
      const { message, evidence } = toRpcError(error);
      const { code = rpcCodes.internal, data } = evidence.rpc ?? {};
      await this.#deliver(from, { kind: "error", id, from: this.own, code, message, data });
    } finally {
      this.#working.delete(id);
    }
  }

  #send(to: string, mail: Mail): void {
    this.#background(this.#deliver(to, mail));
  }

  #deliver(to: string, mail: Mail): Promise<void> {
    const { messages, now } = this.#options;
    return messages.send(addressOf(to), { text: JSON.stringify(mail), until: now() + kept });
  }

  #background(work: Promise<void>): void {
    work.catch((error: unknown) => this.#options.log("warning", "replica_message", { message: errorMessage(error) }));
  }
}

const mostSeen = 20_000;

const goneMail = {
  kind: "error",
  code: rpcCodes.internal,
  message:
    "the replica of the gateway that has this call has ended: the call may have run; check what it did before you send it again",
  data: { reason: "outcome_unknown" },
} as const;

function addressOf(replica: string): string {
  return `replica ${replica}`;
}
