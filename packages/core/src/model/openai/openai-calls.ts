/**
 * Assembles calls that arrive in pieces. Endpoints may number them, give them ids, repeat either, or give neither.
 * Pure.
 */

import { isObject, parseJson, textIn } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import type { ModelCall } from "../model.ts";

/** Calls that are being assembled. */
export interface CallAssembly {
  /** Adds the `tool_calls` of a delta or of a whole message. */
  add(pieces: unknown): void;
  /** Returns the calls with the API's names. `mistake`: the problem of the first invalid call. */
  end(): { readonly calls: readonly ModelCall[]; readonly mistake?: string };
}

interface Draft {
  readonly index: number | undefined;
  id: string | undefined;
  name: string;
  text: string;
  readonly hasArguments: boolean;
}

interface Piece {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string;
  readonly text: string;
  /** Whether the piece has arguments, even empty ones. */
  readonly hasArguments: boolean;
}

/** Starts an empty assembly. */
export function createCallAssembly(): CallAssembly {
  const drafts: Draft[] = [];

  function take(piece: Piece): void {
    const draft = drafts.findLast((known) => isSame(known, piece, known === drafts.at(-1)));
    if (draft === undefined || begins(draft, piece)) {
      drafts.push({ ...piece });
      return;
    }
    draft.id ??= piece.id;
    if (piece.name !== draft.name) draft.name += piece.name;
    draft.text += piece.text;
  }

  return {
    add(pieces) {
      if (Array.isArray(pieces)) for (const piece of pieces) if (isObject(piece)) take(readPiece(piece));
    },
    end() {
      const ids = new Set<string>();
      const calls: ModelCall[] = [];
      for (const { id, name, text } of drafts) {
        if (name === "") return { calls: [], mistake: "a call without a name" };
        const args = readArguments(text);
        if (args === undefined)
          return { calls: [], mistake: `the arguments of ${name} are not a JSON object: ${clip(text, 200)}` };
        // Some endpoints give every call the same id: then only the order tells calls apart.
        const isOwn = id !== undefined && !ids.has(id);
        if (isOwn) ids.add(id);
        calls.push({ ...(isOwn && { id }), name, args });
      }
      return { calls };
    },
  };
}

function readPiece(given: Record<string, unknown>): Piece {
  const called = isObject(given["function"]) ? given["function"] : {};
  const text = called["arguments"] ?? "";
  return {
    index: typeof given["index"] === "number" ? given["index"] : undefined,
    id: textIn(given, "id"),
    name: textIn(called, "name") ?? "",
    text: typeof text === "string" ? text : JSON.stringify(text),
    hasArguments: typeof called["arguments"] === "string",
  };
}

/** Whether a piece may belong to this call: by index, else by id; without either it continues the last call. */
function isSame(draft: Draft, { index, id }: Piece, isLast: boolean): boolean {
  if (index !== undefined) return draft.index === index;
  return id === undefined ? isLast : draft.id === id;
}

/** Whether a piece begins another call, whatever its index: old Ollama versions always give 0, other servers none. */
function begins(draft: Draft, { id, name, text, hasArguments }: Piece): boolean {
  if (id !== undefined && draft.id !== undefined && id !== draft.id) return true;
  if (name === "" || draft.name === "") return false;
  if (id !== undefined && id === draft.id && text === "") return false;
  if (draft.text === "") {
    // Both are calls without arguments. A name in pieces has its arguments after the last piece.
    const isWhole = id === undefined && draft.id === undefined && draft.hasArguments && hasArguments;
    return isWhole && (text === "" || name !== draft.name);
  }
  return name !== draft.name || readArguments(draft.text) !== undefined;
}

/** A call without parameters may have no arguments, or `null`. */
function readArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  const value = parseJson(text);
  return value === null ? {} : isObject(value) ? value : undefined;
}
