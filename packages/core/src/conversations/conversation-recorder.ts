/**
 * Records one conversation: receives its changes, hides secrets and appends lines to the conversation's file. Never
 * throws.
 */

import type { Redact } from "../connect/redact.ts";
import type { Content, Part } from "../normalise/model-types.ts";
import type { GivenApproval } from "../policy/conversation-approvals.ts";
import { hidden } from "../text/hidden-text.ts";
import type { ConversationChange, RecordChange } from "../turn/conversation.ts";
import type { CallEvent, TurnEvent } from "../turn/events.ts";
import { toResponse } from "../turn/history.ts";
import type { ConversationFile } from "./conversation-file.ts";
import { type ConversationHead, type EncodedLine, encodeLine, type RecordedLine } from "./format.ts";

export interface ConversationRecorderOptions {
  readonly head: ConversationHead;
  /** The workspace root of this run. */
  readonly workspace: string;
  /** The open file of a resumed conversation. */
  readonly resumed?: ConversationFile;
  /**
   * Opens the file for writing. Creates the file if `size` is undefined; otherwise the file must have this size in
   * bytes.
   */
  readonly open: (size: number | undefined) => Promise<ConversationFile>;
  /** Returns a function that hides all secrets that are known at the time of the call. */
  readonly hide: () => Promise<Redact>;
  /** Whether to hide the results of this server in recorded conversations. */
  readonly hidesResults: (server: string) => boolean;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** Called once, when recording fails. The conversation continues without being recorded. */
  readonly onFailed: (error: unknown) => void;
}

/** Writes the changes of one conversation to its file. */
export interface ConversationRecorder {
  readonly record: RecordChange;
  readonly approve: (approval: GivenApproval) => void;
  /** Resolves when all complete lines are on disk. A line is complete when its text cannot grow any more. */
  readonly whenSaved: () => Promise<void>;
  /**
   * Resolves when all lines are on disk and the file is closed. The next change of the conversation opens the file
   * again.
   */
  readonly close: () => Promise<void>;
}

type TextLine = Extract<RecordedLine, { readonly type: "text" | "thought" }>;

/** Lines that are written together. They are consecutive pieces of one text, or a single line. */
type Entry = readonly RecordedLine[];

/** Creates a recorder. It creates the file only when the conversation has a message. */
export function createConversationRecorder(options: ConversationRecorderOptions): ConversationRecorder {
  const { head, open, hide, hidesResults, now, onFailed } = options;
  let file = options.resumed;
  let size = file?.size();
  /** Whether to write a file. A conversation without messages gets no file. */
  let hasBegun = file !== undefined;
  let hasFailed = false;
  let waiting: Entry[] = file ? [[{ time: timeOf(now()), type: "resumed", workspace: options.workspace }]] : [];
  /**
   * Pieces of the model's text that is still arriving. They are written together, because a secret may be split between
   * two pieces.
   */
  let run: TextLine[] = [];
  let writing: Promise<void> | undefined;
  const withoutHiddenResults = createResultFilter(hidesResults);

  function endRun(): void {
    if (run.length > 0) waiting.push(run);
    run = [];
  }

  function add(line: RecordedLine): void {
    if (hasFailed) return;
    if (line.type === "text" || line.type === "thought") {
      if (run[0]?.type !== line.type) endRun();
      run.push(line);
      return;
    }
    endRun();
    waiting.push([line]);
    hasBegun ||= line.type === "input";
    if (hasBegun) writing ??= write();
  }

  async function write(): Promise<void> {
    try {
      // Waits until the current events are handled, so that all their changes are written at once.
      await new Promise((resolve) => setImmediate(resolve));
      while (waiting.length > 0) {
        file ??= await open(size);
        const entries = waiting;
        waiting = [];
        const redact = await hide();
        const lines = entries.flatMap((entry) => encode(entry, redact));
        await file.append(size === undefined ? [{ text: JSON.stringify(head), media: new Map() }, ...lines] : lines);
        size = file.size();
      }
    } catch (error) {
      hasFailed = true;
      waiting = [];
      onFailed(error);
    } finally {
      writing = undefined;
    }
  }

  // Writes the line `resumed` at once, even if no message follows. The list then shows this conversation first.
  if (hasBegun) writing = write();

  return {
    record(change) {
      const plain = toPlain(change);
      if (plain !== undefined) add({ time: timeOf(now()), ...withoutHiddenResults(plain) });
    },
    approve: (approval) => add({ time: timeOf(now()), type: "approval", approval }),
    async whenSaved() {
      while (writing !== undefined) await writing;
    },
    async close() {
      endRun();
      if (hasBegun && waiting.length > 0) writing ??= write();
      while (writing !== undefined) await writing;
      const closing = file;
      file = undefined;
      await closing?.close();
    },
  };
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

type Plain = ConversationChange | Exclude<TurnEvent, { readonly type: "confirmation" | "error" }> | PlainError;
type PlainError = Omit<Extract<RecordedLine, { readonly type: "error" }>, "time">;

/** Converts an event to plain data. A `confirmation` event contains functions, so the result is undefined. */
function toPlain(change: ConversationChange | TurnEvent): Plain | undefined {
  if (change.type === "confirmation") return undefined;
  if (change.type !== "error") return change;
  const { code, message, next } = change.error;
  return { type: "error", error: { code, message, next } };
}

/**
 * Encodes the lines of one entry. If the text of all pieces contains a secret, joins them into one line first: the
 * secret may be split between two pieces.
 */
function encode(entry: Entry, hide: Redact): readonly EncodedLine[] {
  const texts = entry.flatMap((line) => (line.type === "text" || line.type === "thought" ? line.text : []));
  const whole = texts.join("");
  const [first] = entry;
  if (first === undefined || texts.length < 2 || hide(whole) === whole)
    return entry.map((line) => encodeLine(line, hide));
  return [encodeLine({ ...first, text: whole } as TextLine, hide)];
}

/**
 * Creates a function that replaces a server's results by `(hidden)`, if `hidesResults` returns true for this server.
 */
function createResultFilter(hidesResults: (server: string) => boolean): (change: Plain) => Plain {
  /** The ids of calls to servers whose results are hidden. */
  const calls = new Set<string>();
  /** The names that the model uses for the tools whose results are hidden. */
  const names = new Set<string>();

  function withoutResponses({ role, parts }: Content): Content {
    const kept = parts.map((part) => {
      const { functionResponse } = part;
      const isHidden = functionResponse !== undefined && names.has(functionResponse.name ?? "");
      return isHidden ? toResponse(functionResponse, { output: hidden }) : part;
    });
    return { role, parts: kept };
  }

  function withoutResult(event: CallEvent): CallEvent {
    const { display, files: _files, media: _media, error, ...rest } = event;
    return {
      ...rest,
      display: display === undefined ? undefined : hidden,
      error: error && { code: error.code, message: hidden },
    };
  }

  return (change) => {
    if (change.type === "content") return { ...change, content: withoutReferences(change.content, hidesResults) };
    if (change.type === "compact") return { ...change, contents: change.contents.map(withoutResponses) };
    if (change.type === "progress" && calls.has(change.id)) {
      const { message: _message, ...rest } = change;
      return rest;
    }
    if (change.type !== "call" && change.type !== "response") return change;
    if (change.server === undefined || !hidesResults(change.server)) return change;
    if (change.type === "call") {
      calls.add(change.id);
      return withoutResult(change);
    }
    names.add(change.part.functionResponse?.name ?? "");
    const part = toResponse(change.part.functionResponse ?? {}, { output: hidden });
    return { type: "response", index: change.index, server: change.server, part };
  };
}

/**
 * Removes resources from the user's message if their server's results are hidden. A resource begins after a heading
 * with the server's name, and ends with the tag `</untrusted_context_…>`.
 */
function withoutReferences(content: Content, hidesResults: (server: string) => boolean): Content {
  if (content.role !== "user" || content.parts.length < 2) return content;
  let isHiding = false;
  const parts = content.parts.flatMap((part): Part[] => {
    const { text = "" } = part;
    const [, server] = /, a resource of the MCP server "(.*)":\]$/.exec(text) ?? [];
    if (server !== undefined && hidesResults(server)) {
      isHiding = true;
      return [part, { text: hidden }];
    }
    const isShown = !isHiding;
    if (/^<\/untrusted_context_\w+>$/.test(text)) isHiding = false;
    return isShown ? [part] : [];
  });
  return { role: content.role, parts };
}
