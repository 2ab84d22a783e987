/** One open conversation of a console: its turns, and what pages are shown of them. */

import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import type { Content, Part } from "@fairlead/core/normalise";
import type { ConfirmationAnswer, ToolCallConfirmationDetails } from "@fairlead/core/policy";
import { findPrompt, readPromptCall, splitWords, toPromptInput, toPromptMessages } from "@fairlead/core/request";
import type { Conversation, TurnEvent } from "@fairlead/core/turn";
import type { JsonObject } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import type { ConsoleEvent } from "../../protocol/events.ts";
import { ChatEvents, isPiece } from "./chat-events.ts";
import { findRecorded, readEvents, withoutBytes } from "./conversations.ts";

/** What a conversation uses of its console. */
export interface ChatPort {
  readonly host: OpenedHost;
  readonly emit: (event: ConsoleEvent) => void;
  /** Asks a person about a call. `row`: the id of the call's row. */
  readonly confirm: (
    details: ToolCallConfirmationDetails,
    signal: AbortSignal,
    row: string,
  ) => Promise<ConfirmationAnswer>;
  /** Chooses the id of the row of the requests that are sent with this signal. */
  readonly nameRow: (signal: AbortSignal) => string;
}

/** A message for the model. */
interface Message {
  readonly before: readonly Content[];
  readonly parts: readonly Part[];
  /** Why references of the message could not be read. */
  readonly problems: readonly string[];
}

/** Milliseconds to wait for servers that a message names. */
const longestWait = 10_000;
/** A longer piece of text without a space is sent on. */
const longestWord = 4000;

export class OpenChat {
  readonly events: ChatEvents = new ChatEvents();
  readonly #port: ChatPort;
  #conversation: Conversation;
  #running: AbortController | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** The end of the model's text, which may be the beginning of a secret. */
  #held: { readonly type: unknown; readonly text: string } | undefined;
  /** The rows of this turn's calls, by the id of the call. */
  readonly #rows = new Map<string, string>();
  /** How long the recording was after the last turn here. */
  #recordedBytes: number | undefined;

  constructor(conversation: Conversation, port: ChatPort) {
    this.#conversation = conversation;
    this.#port = port;
  }

  get id(): string {
    return this.#conversation.id;
  }

  get title(): string | undefined {
    return this.#conversation.title;
  }

  get model(): string {
    return this.#conversation.model.name;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Begins with what was recorded. Other programs can continue the conversation until the next message. */
  async readRecorded(): Promise<void> {
    this.events.replace(await readEvents(this.#port.host, this.id));
    await this.#release();
  }

  /**
   * Begins a turn.
   *
   * @throws HostError `busy`
   */
  send(text: string): void {
    if (this.#running !== undefined)
      throw new HostError("busy", "a turn of this conversation is running: stop it first");
    const running = new AbortController();
    this.#running = running;
    this.#turn = this.#run(text, running.signal).then(async (last) => {
      await this.#release();
      // The page may send the next message as soon as it knows that the turn has ended.
      this.#running = undefined;
      this.#tell(last);
    });
  }

  stop(why: string): void {
    this.#running?.abort(new HostError("cancelled", why));
  }

  stopCalls(): void {
    this.#conversation.cancelCalls();
  }

  /** Stops the turn, and waits for its end. */
  async close(why: string): Promise<void> {
    this.stop(why);
    await this.#turn;
    await this.#conversation.close();
  }

  /** Runs one turn. Returns its last event, which says how it has ended. */
  async #run(text: string, signal: AbortSignal): Promise<JsonObject> {
    this.#rows.clear();
    try {
      await this.#continueRecorded();
      this.#tell({ type: "input", text });
      const { before, parts, problems } = await this.#compose(text, signal);
      for (const message of problems) this.#tell({ type: "note", message });
      const { confirm, nameRow } = this.#port;
      const turn = this.#conversation.send(parts, {
        signal,
        before,
        shown: text,
        onCall: (call, sent) => void this.#rows.set(call, nameRow(sent)),
        confirm: (details, until, call) => confirm(details, until, this.#rows.get(call) ?? ""),
      });
      for await (const event of turn) {
        if (event.type === "done" || event.type === "error") return this.#shown(event);
        if (event.type !== "confirmation") this.#tell(this.#shown(event));
      }
      return { type: "error", error: { code: "internal", message: "the turn has ended without a reason" } };
    } catch (error) {
      return { type: "error", error: failureOf(error) };
    }
  }

  async #compose(typed: string, signal: AbortSignal): Promise<Message> {
    const { host } = this.#port;
    const [{ text: name } = { text: "" }] = splitWords(typed.trimStart().slice(1));
    // A text that begins with a path ("/etc/hosts: what is this?") names no prompt.
    const isPrompt = /^\s*\/[^\s/]+(?:\s|$)/.test(typed) && findPrompt(name, host.promptRegistry) !== undefined;
    const call = isPrompt ? readPromptCall(typed, host.promptRegistry) : undefined;
    if (call !== undefined) {
      const { server, prompt, args } = call;
      const result = await host.getPrompt(server, prompt, args, { signal, wait: longestWait });
      // References in a server's text are no references of the person.
      const { before, parts } = toPromptInput(await toPromptMessages(result, { server }));
      return { before, parts, problems: [] };
    }
    const { parts, problems } = await host.expandReferences(typed, { signal, wait: longestWait });
    return { before: [], parts, problems: problems.map(({ text, error }) => `${text}: ${error.message}`) };
  }

  /** Lets other programs continue the conversation until the next message here. */
  async #release(): Promise<void> {
    await this.#conversation.close();
    this.#recordedBytes = await this.#bytesOfRecording();
  }

  /** Continues with what another program has added since. */
  async #continueRecorded(): Promise<void> {
    if ((await this.#bytesOfRecording()) === this.#recordedBytes) return;
    const { host } = this.#port;
    const { model } = this.#conversation;
    this.#conversation = await host.conversation({ model, resume: this.id });
    this.events.replace(await readEvents(host, this.id));
    this.#emit({ type: "reload" });
  }

  /** Undefined while nothing is recorded. */
  async #bytesOfRecording(): Promise<number | undefined> {
    return findRecorded(this.#port.host, this.id).then(
      ({ bytes }) => bytes,
      () => undefined,
    );
  }

  /** An event of a turn as JSON. */
  #shown(event: Exclude<TurnEvent, { readonly type: "confirmation" }>): JsonObject {
    if (event.type === "error") return { type: event.type, error: failureOf(event.error) };
    if (event.type !== "call") return { ...event };
    return withoutBytes({ ...event, row: this.#rows.get(event.id) });
  }

  /** Tells pages of an event. A secret may be split between two pieces of a text, so no piece ends within a word. */
  #tell(event: JsonObject): void {
    const { type, text: piece } = event;
    if (!isPiece(event) || this.#held?.type !== type) {
      if (this.#held !== undefined) this.#emit({ ...this.#held });
      this.#held = undefined;
    }
    if (!isPiece(event)) {
      this.#emit(event);
      return;
    }
    const text = `${this.#held?.text ?? ""}${String(piece)}`;
    const end = text.length > longestWord ? text.length : text.search(/\S*$/);
    this.#held = end === text.length ? undefined : { type, text: text.slice(end) };
    if (end > 0) this.#emit({ type, text: text.slice(0, end) });
  }

  #emit(event: JsonObject): void {
    const isKept = event["type"] !== "progress" && event["type"] !== "reload";
    const number = isKept ? this.events.add(event) : this.events.latest(0).number;
    this.#port.emit({ type: "turn", conversation: this.id, number, event });
  }
}

function failureOf(error: unknown): JsonObject {
  if (!(error instanceof HostError)) return { code: "internal", message: errorMessage(error) };
  const { code, message, next } = error;
  return { code, message, next };
}
