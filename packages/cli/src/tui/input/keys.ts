/** Parses the input of a terminal into keys. Keeps an incomplete escape sequence until the rest arrives. */

type KeyName =
  | "text"
  | "paste"
  | "enter"
  | "escape"
  | "tab"
  | "backspace"
  | "delete"
  | "insert"
  | "up"
  | "down"
  | "left"
  | "right"
  | "home"
  | "end"
  | "pageup"
  | "pagedown"
  | "unknown";

/**
 * A key press, or several characters that arrive together. For Ctrl or Alt with a letter, `name` is `text` and `text`
 * is the letter. With Alt and Shift, the letter may be in upper case.
 */
export interface Key {
  readonly name: KeyName;
  /** The text of a `text` or `paste` key. */
  readonly text?: string;
  readonly ctrl?: boolean;
  /** Whether Alt was pressed. */
  readonly meta?: boolean;
  readonly shift?: boolean;
}

/** Whether the key is this letter with Ctrl. */
export function isCtrl({ name, text, ctrl }: Key, letter: string): boolean {
  return name === "text" && ctrl === true && text === letter;
}

/** Returns the typed text in lower case. Undefined for a key without text, and with Ctrl or Alt. */
export function letterOf({ name, text = "", ctrl, meta }: Key): string | undefined {
  return name === "text" && ctrl !== true && meta !== true ? text.toLowerCase() : undefined;
}

/** Input that is not yet a complete key. Pass it to the next `readKeys` call. */
export interface KeyState {
  /** The beginning of an escape sequence whose end has not arrived yet. */
  readonly pending: string;
  /** The part of a paste that has arrived so far. */
  readonly paste?: string;
  /**
   * Set after Fairlead stopped waiting for the end of a paste. In the chunk with the end marker, the text before the
   * marker is still pasted text.
   */
  readonly isPasteCut?: true;
}

/** The keys of one chunk of input, and the state for the next chunk. */
export interface ReadKeys {
  readonly keys: readonly Key[];
  readonly state: KeyState;
}

/** The state before the first input. */
export const noKeys: KeyState = { pending: "" };
const pasteCut: KeyState = { pending: "", isPasteCut: true };

const esc = "\u001b";
const ctrlC = "\u0003";
const pasteStart = `${esc}[200~`;
const pasteEnd = `${esc}[201~`;
/** An escape sequence with more characters is not a key. Fairlead does not wait for its end. */
const longestSequence = 64;
const longestString = 4096;

/** Parses a chunk of terminal input, together with the incomplete input of earlier chunks. */
export function readKeys(state: KeyState, chunk: string): ReadKeys {
  const keys: Key[] = [];
  let { paste } = state;
  let rest = state.pending + chunk;
  // A chunk with only Ctrl-C is the key, not pasted text. So the user can stop a paste that never ends.
  if (paste !== undefined && chunk === ctrlC) {
    const ended = endKeys(state);
    return withKeys(ended.keys, readKeys(ended.state, chunk));
  }
  if (state.isPasteCut) return readAfterCut(rest);
  while (rest !== "") {
    if (paste !== undefined) {
      const end = rest.indexOf(pasteEnd);
      if (end === -1) {
        const kept = beginningAtEnd(rest, pasteEnd);
        return {
          keys,
          state: { pending: rest.slice(rest.length - kept), paste: paste + rest.slice(0, rest.length - kept) },
        };
      }
      keys.push(pasted(paste + rest.slice(0, end)));
      rest = rest.slice(end + pasteEnd.length);
      paste = undefined;
      continue;
    }
    if (rest.startsWith(pasteStart)) {
      paste = "";
      rest = rest.slice(pasteStart.length);
      continue;
    }
    const read = readOne(rest);
    if (read === undefined) return { keys, state: { pending: rest } };
    if (read.key !== undefined) keys.push(read.key);
    rest = rest.slice(read.length);
  }
  return { keys, state: paste === undefined ? noKeys : { pending: "", paste } };
}

/**
 * Call this when no more input arrives for a moment. A pending Escape becomes the Escape key, and a pending paste is
 * complete.
 */
export function endKeys({ pending, paste, isPasteCut }: KeyState): ReadKeys {
  const keys = pending === "" ? [] : unfinishedKeys(pending);
  if (paste === undefined) return { keys, state: isPasteCut ? pasteCut : noKeys };
  return { keys: [pasted(paste), ...keys], state: pasteCut };
}

/**
 * Reads input after an incomplete paste. In a chunk with the end marker, the text before the marker is pasted text, so
 * a line break in it does not send the prompt.
 */
function readAfterCut(text: string): ReadKeys {
  const [start, end] = [text.indexOf(pasteStart), text.indexOf(pasteEnd)];
  if (start !== -1 && (end === -1 || start < end)) return readKeys(noKeys, text);
  if (end !== -1) {
    const late = end === 0 ? [] : [pasted(text.slice(0, end))];
    return withKeys(late, readKeys(noKeys, text.slice(end + pasteEnd.length)));
  }
  const read = readKeys(noKeys, text);
  return { ...read, state: { ...read.state, isPasteCut: true } };
}

function withKeys(keys: readonly Key[], read: ReadKeys): ReadKeys {
  return { ...read, keys: [...keys, ...read.keys] };
}

function unfinishedKeys(pending: string): readonly Key[] {
  const [, character, ...others] = Array.from(pending);
  if (pending === esc.repeat(pending.length)) return Array.from(pending, () => ({ name: "escape" }));
  // Nothing followed a beginning such as `ESC [` or `ESC O`, so the user pressed Alt-[ or Alt-O.
  return others.length === 0 ? [{ name: "text", text: character ?? "", meta: true }] : [{ name: "unknown" }];
}

interface One {
  /** Undefined for input that is not a key, such as a reply of the terminal. */
  readonly key: Key | undefined;
  readonly length: number;
}

/** Reads one key from the beginning of the text. Returns undefined if its escape sequence is incomplete. */
function readOne(text: string): One | undefined {
  if (text.startsWith(esc)) return readEscape(text);
  const plain = /^\P{Cc}+/u.exec(text)?.[0];
  if (plain !== undefined) return { key: { name: "text", text: plain }, length: plain.length };
  return { key: controlKey(text.charCodeAt(0)), length: 1 };
}

function controlKey(code: number): Key {
  if (code === 0x0d) return { name: "enter" };
  if (code === 0x09) return { name: "tab" };
  if (code === 0x7f || code === 0x08) return { name: "backspace" };
  if (code > 0x7f) return { name: "unknown" };
  // 0x00 is Ctrl-Space, 0x01 Ctrl-A, 0x0a Ctrl-J, 0x1f Ctrl-_.
  return { name: "text", text: code === 0 ? " " : String.fromCharCode(code + 0x40).toLowerCase(), ctrl: true };
}

function readEscape(text: string): One | undefined {
  if (text.length === 1) return undefined;
  const next = text.charAt(1);
  if (next === "[") return readSequence(text);
  if (next === "O") {
    const final = text.charAt(2);
    if (final === "") return undefined;
    return { key: letterKey(final, 1), length: 3 };
  }
  // `ESC ]`, `ESC P`, `ESC _` and `ESC ^` begin replies of the terminal, not keys.
  if (next === "]" || next === "P" || next === "_" || next === "^") return readString(text);
  if (next === esc) {
    const inner = readEscape(text.slice(1));
    if (inner === undefined) return undefined;
    /** `ESC ESC [ A` is Alt-Up in some terminals. If no known key follows the first ESC, that ESC is the Escape key. */
    if (inner.key === undefined || inner.key.name === "unknown") return { key: { name: "escape" }, length: 1 };
    return { key: { ...inner.key, meta: true }, length: inner.length + 1 };
  }
  const character = String.fromCodePoint(text.codePointAt(1) ?? 0);
  const key: Key = next < " " || next === "\u007f" ? controlKey(next.charCodeAt(0)) : { name: "text", text: character };
  return { key: { ...key, meta: true }, length: 1 + character.length };
}

/** Reads an escape sequence (CSI), such as `ESC [ 1 ; 5 C` for Ctrl-Right. */
function readSequence(text: string): One | undefined {
  // The Linux console sends F1 to F5 as `ESC [ [ A`.
  if (text.startsWith(`${esc}[[`)) return text.length < 4 ? undefined : { key: { name: "unknown" }, length: 4 };
  const rest = text.slice(2);
  const whole = /^([0-?]*)[ -/]*([@-~])/.exec(rest);
  if (whole !== null) {
    const [all, parameters = "", final = ""] = whole;
    return { key: sequenceKey(parameters, final), length: 2 + all.length };
  }
  const isUnfinished = /^[0-?]*[ -/]*$/.test(rest);
  if (isUnfinished && text.length < longestSequence) return undefined;
  return { key: { name: "unknown" }, length: isUnfinished ? text.length : 2 };
}

function readString(text: string): One | undefined {
  const ends = ["\u0007", `${esc}\\`].flatMap((end) => {
    const at = text.indexOf(end, 2);
    return at === -1 ? [] : at + end.length;
  });
  if (ends.length > 0) return { key: undefined, length: Math.min(...ends) };
  return text.length < longestString ? undefined : { key: undefined, length: text.length };
}

const tildeKeys: Readonly<Record<string, KeyName>> = {
  "1": "home",
  "2": "insert",
  "3": "delete",
  "4": "end",
  "5": "pageup",
  "6": "pagedown",
  "7": "home",
  "8": "end",
};

const letterNames: Readonly<Record<string, KeyName>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  M: "enter",
  Z: "tab",
};

function sequenceKey(parameters: string, final: string): Key | undefined {
  const [first = "", second = "", third = ""] = parameters.split(";");
  const modifier = Number.parseInt(second, 10);
  if (final === "~" && first === "27") return codeKey(Number(third), modifier);
  if (final === "~") return withModifiers({ name: tildeKeys[first] ?? "unknown" }, modifier);
  if (final === "u") return codeKey(Number.parseInt(first, 10), modifier);
  if (final === "Z") return { name: "tab", shift: true };
  // The terminal reports that its window gained or lost the focus.
  if ((final === "I" || final === "O") && parameters === "") return undefined;
  return letterKey(final, modifier);
}

function letterKey(final: string, modifier: number): Key {
  return withModifiers({ name: letterNames[final] ?? "unknown" }, modifier);
}

/** Returns the key for a Unicode code point. Terminals that can report Shift-Enter send code points. */
function codeKey(code: number, modifier: number): Key {
  if (!Number.isInteger(code) || code < 0 || code > 0x10ffff) return { name: "unknown" };
  if (code === 0x1b) return withModifiers({ name: "escape" }, modifier);
  const isControl = code < 0x20 || code === 0x7f;
  const key = isControl ? controlKey(code) : { name: "text" as const, text: String.fromCodePoint(code) };
  return withModifiers(key, modifier);
}

/** Adds modifier keys to a key. `modifier` is 1, plus 1 for Shift, 2 for Alt and 4 for Ctrl. */
function withModifiers(key: Key, modifier: number): Key {
  const bits = Number.isInteger(modifier) && modifier > 0 ? modifier - 1 : 0;
  return {
    ...key,
    shift: (bits & 1) !== 0 || key.shift,
    meta: (bits & 2) !== 0 || key.meta,
    ctrl: (bits & 4) !== 0 || key.ctrl,
  };
}

function pasted(text: string): Key {
  return { name: "paste", text: text.replaceAll(/\r\n?/g, "\n") };
}

/** Returns how many characters at the end of `text` are the beginning of `wanted`, whose rest may still arrive. */
function beginningAtEnd(text: string, wanted: string): number {
  const most = Math.min(text.length, wanted.length - 1);
  for (let length = most; length > 0; length--) if (wanted.startsWith(text.slice(text.length - length))) return length;
  return 0;
}
