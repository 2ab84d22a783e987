/**
 * Completion in the prompt. Suggestions from the catalogs appear at once, those from servers and the disk a little
 * later.
 */

import { resolve } from "node:path";
import type { HostTool } from "@fairlead/core/host";
import { toolKey } from "@fairlead/core/normalise";
import { mayBeginMention, splitTypedLines, splitWords, writeMention } from "@fairlead/core/request";
import { type CompletionAnswer, suggestFiles } from "../completion/answer.ts";
import { type CallTarget, offerArguments, offerTargets, toSuggestions } from "./input/call-words.ts";
import {
  type CompletionItem,
  type CompletionOffer,
  completionKey,
  extend,
  openCompletion,
  rank,
  take,
} from "./input/completion.ts";
import type { Editor } from "./input/editor.ts";
import { type Key, letterOf } from "./input/keys.ts";
import { offerMentions, templateQuestions } from "./input/mention-words.ts";
import type { Services } from "./services.ts";
import type { SlashCommand } from "./slash/command.ts";
import { commandsOf } from "./slash/commands.ts";
import { valueQuestion } from "./slash/prompt-commands.ts";

/** Milliseconds without a key press before Fairlead asks servers for suggestions. */
const pause = 120;
const mostWords = 50;

/** The completion list of the prompt: handles its keys and updates it in `session.store`. */
export class Completer {
  readonly #services: Services;
  #stop: (() => void) | undefined;

  constructor(services: Services) {
    this.#services = services;
  }

  /**
   * Moves the selection, inserts it or closes the list. Returns false if the list is closed or does not use this key.
   */
  press(key: Key): boolean {
    const { store } = this.#services.session;
    const { completion, editor, questions, focus } = store.get();
    const step = completion && completionKey(completion, key);
    if (completion === undefined || step === undefined || (questions.length > 0 && focus !== "input")) return false;
    switch (step.kind) {
      case "move":
        store.dispatch({ type: "completion", completion: step.completion });
        break;
      case "close":
        this.#close();
        break;
      case "take":
        store.dispatch({ type: "edit", editor: take(editor, completion, step.suggestion) });
        this.#renew();
        break;
    }
    return true;
  }

  /** Call this after a key that `press` did not use. Opens the list again for the new text, or closes it. */
  pressed(key: Key): void {
    if (changesText(key)) this.#renew();
    else this.#close();
  }

  /** Cancels the unanswered requests to servers. */
  end(): void {
    this.#stop?.();
  }

  #close(): void {
    const { store } = this.#services.session;
    this.#stop?.();
    this.#stop = undefined;
    if (store.get().completion !== undefined) store.dispatch({ type: "completion" });
  }

  #renew(): void {
    this.#close();
    const { session } = this.#services;
    const { editor, search } = session.store.get();
    if (search !== undefined) return;
    const cursor = cursorContextAt(editor, session.model().provider === "manual");
    if (cursor === undefined) return;
    const range = { from: cursor.from, to: editor.cursor };
    const suggestions = this.#knownAt(cursor);
    const isUnfinished = cursor.kind === "command" && suggestions.every(({ value }) => value !== cursor.typed);
    const completion = openCompletion(editor.text, { ...range, suggestions, isUnfinished });
    if (completion !== undefined) session.store.dispatch({ type: "completion", completion });
    this.#askLater(cursor, editor.text, range);
  }

  /** Gets more suggestions from servers and from the disk. A key that renews or closes the list cancels this. */
  #askLater(cursor: CursorContext, text: string, range: Pick<CompletionOffer, "from" | "to">): void {
    const { store, clock, fail } = this.#services.session;
    const ending = new AbortController();
    const ask = async (): Promise<void> => {
      await Promise.all(
        this.#questionsAt(cursor, ending.signal).map(async (question) => {
          const suggestions = await question;
          if (ending.signal.aborted || suggestions.length === 0) return;
          const completion = extend(store.get().completion, text, { ...range, suggestions });
          if (completion !== undefined) store.dispatch({ type: "completion", completion });
        }),
      );
    };
    const callOff = clock.after(
      pause,
      () => void ask().catch((error: unknown) => (ending.signal.aborted ? undefined : fail(error))),
      { background: true },
    );
    this.#stop = () => {
      callOff();
      ending.abort();
    };
  }

  #knownAt(cursor: CursorContext): readonly CompletionItem[] {
    const services = this.#services;
    switch (cursor.kind) {
      case "command":
        return rank(commandsOf(services), cursor.typed.slice(1), ({ name }) => name, mostWords).map(
          ({ name, summary }) => ({ value: `/${name}`, about: summary }),
        );
      case "word": {
        const suggestions = this.#commandNamed(cursor.command)?.complete?.(cursor.before, services) ?? [];
        return rank(suggestions, cursor.typed, ({ value }) => value, mostWords);
      }
      case "mention":
        return offerMentions(cursor.typed, services.session.host.resources());
      case "target":
        return offerTargets(cursor.typed, this.#callableTools());
      case "parameter":
        return toSuggestions(this.#parametersAt(cursor), cursor.typed);
    }
  }

  #questionsAt(cursor: CursorContext, signal: AbortSignal): readonly Promise<readonly CompletionItem[]>[] {
    const { session, context } = this.#services;
    const { host } = session;
    switch (cursor.kind) {
      case "mention":
        return [
          ...templateQuestions(cursor.typed, host.resources()).map(async ({ request, write }) =>
            (await host.complete(request, { signal })).map(write),
          ),
          this.#filesAt(cursor.typed),
        ];
      case "word": {
        const { prompt } = this.#commandNamed(cursor.command) ?? {};
        const request = prompt && valueQuestion(prompt, cursor.before, cursor.typed);
        if (request === undefined) return [];
        const values = host.complete(request, { signal });
        return [values.then((found) => found.map((value) => ({ value: writeWord(`${request.name}=${value}`) })))];
      }
      case "parameter": {
        const answer = this.#parametersAt(cursor);
        if (answer.kind === "words") return [];
        return [suggestFiles(answer, cursor.typed, context.io).then((found) => toSuggestions(found, cursor.typed))];
      }
      case "command":
      case "target":
        return [];
    }
  }

  #commandNamed(wanted: string): SlashCommand | undefined {
    return commandsOf(this.#services).find(({ name }) => name === wanted);
  }

  #parametersAt({ target, before, typed }: Extract<CursorContext, { readonly kind: "parameter" }>): CompletionAnswer {
    return offerArguments(target, before, typed, this.#callableTools()) ?? { kind: "words", candidates: [] };
  }

  #callableTools(): readonly CallTarget[] {
    const { host, conversation } = this.#services.session;
    const schemas = new Map(host.tools().map((tool) => [keyOf(tool), tool.inputSchema]));
    return conversation.tools().map((tool) => ({ ...tool, inputSchema: schemas.get(keyOf(tool)) ?? {} }));
  }

  /**
   * Suggests files in the workspace folder, if the user trusts this folder. Suggests nothing for paths that lead
   * outside.
   */
  async #filesAt(typed: string): Promise<readonly CompletionItem[]> {
    const { session, context } = this.#services;
    const { trust, locations } = session.host.configuration;
    if (!trust.trusted || /^[~/\\]|^[\w+.-]+:|(?:^|\/)\.\.(?:\/|$)/.test(typed)) return [];
    const io = { ...context.io, cwd: resolve(locations.root) };
    const found = await suggestFiles({ kind: "files", prefix: "" }, typed, io);
    return toSuggestions(found, typed).map(({ value, isOpen = false }) => ({
      value: isOpen ? `@${value}` : writeMention(value),
      label: value,
      isOpen,
    }));
  }
}

function changesText(key: Key): boolean {
  return ["backspace", "delete", "tab"].includes(key.name) || letterOf(key) !== undefined;
}

function keyOf({ server, serverToolName }: Pick<HostTool, "server" | "serverToolName">): string {
  return toolKey(server, serverToolName);
}

function writeWord(word: string): string {
  return /^[^\s"'\\]+$/.test(word) ? word : `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

interface At {
  /** Index in the text where the word begins. The word ends at the cursor. */
  readonly from: number;
  readonly typed: string;
}

/** What the user is typing at the cursor. `target`: a tool's name. `parameter`: a parameter of the tool `target`. */
export type CursorContext = At &
  (
    | { readonly kind: "command" }
    /** `before`: the words between the command and the current word. */
    | { readonly kind: "word"; readonly command: string; readonly before: readonly string[] }
    /** `typed` is the text after the `@`, without quotes. */
    | { readonly kind: "mention" }
    | { readonly kind: "target" }
    | { readonly kind: "parameter"; readonly target: string; readonly before: readonly string[] }
  );

/** Matches an `@` and the text up to the cursor. Text in quotes may contain spaces. */
const mention = /@(?:"([^"\n]*)|([^\s"'`<>|]*))$/u;

/**
 * Returns what the user is typing at the cursor, or undefined if there is nothing to complete. `isManual`: there is no
 * model, so every line is a tool call.
 */
export function cursorContextAt(
  { text, cursor }: Pick<Editor, "text" | "cursor">,
  isManual: boolean,
): CursorContext | undefined {
  const before = text.slice(0, cursor);
  const [call] = /^\/(?:call|form)\s+/.exec(before) ?? [];
  if (call !== undefined) return inCall(before, call.length);
  if (before.startsWith("/")) return inCommand(before);
  if (isManual) return inCall(before, 0);
  const [whole, quoted, plain = ""] = mention.exec(before) ?? [];
  if (whole === undefined || !mayBeginMention(before, cursor - whole.length)) return undefined;
  return { kind: "mention", from: cursor - whole.length, typed: quoted ?? plain };
}

function inCommand(before: string): CursorContext | undefined {
  const [first = "", ...words] = wordsOf(before) ?? [];
  if (first === "" || before.includes("\n")) return undefined;
  const typed = words.at(-1);
  if (typed === undefined) return first.includes("/", 1) ? undefined : { kind: "command", from: 0, typed: first };
  const from = before.length - typed.length;
  return { kind: "word", from, typed, command: first.slice(1), before: words.slice(0, -1) };
}

/** `start`: index where the first call begins, for example after `/call `. */
function inCall(before: string, start: number): CursorContext | undefined {
  const { lastStart, open } = splitTypedLines(before.slice(start));
  if (open !== undefined) return undefined;
  const line = before.slice(start + lastStart);
  const [first = "", ...words] = wordsOf(line) ?? [];
  const typed = words.at(-1);
  // After `tool(`, nothing is completed.
  if (first === "" || first.includes("(")) return undefined;
  if (typed === undefined) return { kind: "target", from: before.length - first.length, typed: first };
  const from = before.length - typed.length;
  return { kind: "parameter", from, typed, target: first, before: words.slice(0, -1) };
}

/**
 * Returns the words up to the cursor. After a space, the last word is empty. Returns undefined if the last word has a
 * quote or a backslash, because such a word is not completed.
 */
function wordsOf(line: string): readonly string[] | undefined {
  const [last = ""] = /\S*$/.exec(line) ?? [];
  if (/["'\\]/.test(last)) return undefined;
  const words = splitWords(line.slice(0, line.length - last.length)).map(({ text }) => text);
  return [...words, last];
}
