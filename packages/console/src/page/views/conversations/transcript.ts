/** What was said in a conversation, as entries of its page. An event changes one entry: nothing else is drawn again. */

import { type Flusher, Live, Rows } from "../../live.ts";
import { asJson, type Json } from "../calls/content-block.tsx";

export type ConversationEntry =
  | { readonly kind: "input" | "text" | "thought"; readonly text: string }
  /** The latest event of the call. */
  | { readonly kind: "call"; readonly call: Json }
  /** Servers whose tools the model does not have. */
  | { readonly kind: "missing"; readonly servers: readonly MissingServer[] }
  | {
      readonly kind: "note";
      readonly text: string;
      readonly next?: string | undefined;
      readonly isBad: boolean;
    };

export interface MissingServer {
  readonly name: string;
  readonly message: string;
  readonly next: string | undefined;
}

export class Transcript {
  readonly entries: Rows<ConversationEntry>;
  readonly isRunning: Live<boolean>;
  /** The entries of calls, by the calls' ids. */
  readonly #calls = new Map<unknown, string>();
  #count = 0;

  constructor(flusher: Flusher) {
    this.entries = new Rows<ConversationEntry>(flusher);
    this.isRunning = new Live(false, flusher);
  }

  replace(events: readonly Json[], isRunning: boolean): void {
    this.entries.replace([]);
    this.#count = 0;
    this.#calls.clear();
    for (const event of events) this.add(event);
    this.isRunning.set(isRunning);
  }

  add(event: Json): void {
    switch (event["type"]) {
      case "input":
        this.isRunning.set(true);
        this.#put({ kind: "input", text: textIn(event, "text") ?? "" });
        break;
      case "text":
      case "thought":
        this.#addText(event["type"], textIn(event, "text") ?? "");
        break;
      case "call":
        this.#addCall(event);
        break;
      case "note":
      case "retry":
      case "quarantined":
        this.#note(textIn(event, "message") ?? textIn(event, "reason") ?? "");
        break;
      case "missing":
        this.#addMissing(event["servers"]);
        break;
      case "done":
        this.isRunning.set(false);
        if (event["reason"] !== "stop") this.#note(endTexts[textIn(event, "reason") ?? ""] ?? "The turn ended");
        break;
      case "error":
        this.isRunning.set(false);
        this.#addError(event["error"]);
        break;
      default:
        // Progress, usage and names are not part of what was said.
        break;
    }
  }

  #put(entry: ConversationEntry, id?: string): string {
    if (id === undefined) this.#count += 1;
    const entryId = id ?? String(this.#count);
    this.entries.put(entryId, entry);
    return entryId;
  }

  #addText(kind: "text" | "thought", text: string): void {
    const last = this.entries.ids.value.at(-1) ?? "";
    const entry = this.entries.get(last);
    if (entry?.kind === kind) this.#put({ kind, text: entry.text + text }, last);
    else this.#put({ kind, text });
  }

  #addCall(call: Json): void {
    const { id } = call;
    this.#calls.set(id, this.#put({ kind: "call", call }, this.#calls.get(id)));
  }

  #addMissing(servers: unknown): void {
    const missing = (Array.isArray(servers) ? servers : []).map((each: unknown): MissingServer => {
      const server = asJson(each) ?? {};
      return {
        name: textIn(server, "server") ?? "",
        message: textIn(server, "message") ?? "",
        next: textIn(server, "next"),
      };
    });
    if (missing.length > 0) this.#put({ kind: "missing", servers: missing });
  }

  #addError(error: unknown): void {
    const failure = asJson(error) ?? {};
    const text = textIn(failure, "message") ?? (typeof error === "string" ? error : "The turn failed");
    this.#put({ kind: "note", text, next: textIn(failure, "next"), isBad: true });
  }

  #note(text: string): void {
    this.#put({ kind: "note", text, isBad: false });
  }
}

const endTexts: Readonly<Record<string, string>> = {
  cancelled: "You stopped the turn.",
  length: "The turn ended: the model's answer has reached its largest length.",
  safety: "The turn ended: the model's API stopped the answer for safety.",
  limit: "The turn ended: it has reached its limit of requests or calls.",
};

function textIn(event: Json, name: string): string | undefined {
  const value = event[name];
  return typeof value === "string" ? value : undefined;
}
