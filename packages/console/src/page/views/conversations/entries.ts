/** Makes the entries of a conversation's page from its recorded events: pieces of one answer are joined, and a call is one entry. */

import { asJson, type Json } from "../calls/content-block.tsx";

export type ConversationEntry =
  | { readonly kind: "input" | "text" | "thought"; readonly text: string }
  /** The latest event of the call. */
  | { readonly kind: "call"; readonly call: Json }
  | { readonly kind: "note"; readonly text: string; readonly isBad: boolean };

export function entriesOf(events: readonly Json[]): readonly ConversationEntry[] {
  const entries: ConversationEntry[] = [];
  const calls = new Map<unknown, number>();
  for (const event of events) {
    const text = typeof event["text"] === "string" ? event["text"] : "";
    switch (event["type"]) {
      case "input":
        entries.push({ kind: "input", text });
        break;
      case "text":
      case "thought": {
        const kind = event["type"];
        const last = entries.at(-1);
        if (last?.kind === kind) entries[entries.length - 1] = { kind, text: last.text + text };
        else entries.push({ kind, text });
        break;
      }
      case "call": {
        const at = calls.get(event["id"]);
        const entry: ConversationEntry = { kind: "call", call: event };
        if (at === undefined) calls.set(event["id"], entries.push(entry) - 1);
        else entries[at] = entry;
        break;
      }
      case "note":
      case "retry":
      case "quarantined":
        entries.push({ kind: "note", text: textIn(event, "message") ?? textIn(event, "reason") ?? "", isBad: false });
        break;
      case "done":
        if (event["reason"] !== "stop")
          entries.push({
            kind: "note",
            text: `The turn ended: ${textIn(event, "reason") ?? "without a reason"}`,
            isBad: false,
          });
        break;
      case "error":
        entries.push({ kind: "note", text: messageOf(event["error"]), isBad: true });
        break;
      default:
        // Progress, usage and names are not part of what was said.
        break;
    }
  }
  return entries;
}

function messageOf(error: unknown): string {
  if (typeof error === "string") return error;
  return textIn(asJson(error) ?? {}, "message") ?? "The turn failed";
}

function textIn(event: Json, name: string): string | undefined {
  const value = event[name];
  return typeof value === "string" ? value : undefined;
}
