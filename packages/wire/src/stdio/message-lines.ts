/** Turns the lines of a server's stdout into messages; what is no message is noise: counted, the first of it reported. */

import { WireError } from "../errors.ts";
import type { ChannelEvents } from "../rpc/channel.ts";
import { isObject, parseJson } from "../shapes/json.ts";

const reportedNoise = 3;
const shownCharacters = 200;
/** So many lines of noise and not one message: whatever this program is, it is not a server. */
const noiseLimit = 1000;

export interface MessageLineOptions {
  readonly events: Pick<ChannelEvents, "message" | "diagnostic">;
  /** The program talks, but not to us. */
  readonly hopeless: (cause: WireError) => void;
}

export function createMessageLines({ events, hopeless }: MessageLineOptions): (line: string) => void {
  let noise = 0;
  let messages = 0;
  let firstBytes = "";

  function noted(text: string): void {
    noise += 1;
    if (noise === 1) firstBytes = text.slice(0, shownCharacters);
    if (noise <= reportedNoise) {
      const last = noise === reportedNoise ? "; more of it will not be reported" : "";
      events.diagnostic(`not a message on stdout: ${JSON.stringify(text.slice(0, shownCharacters))}${last}`);
    }
    if (noise > noiseLimit && messages === 0) {
      const lines = noiseLimit.toLocaleString("en");
      hopeless(new WireError("bad_message", `not an MCP server: ${lines} lines and no message`, { firstBytes }));
    }
  }

  function deliver(value: unknown, text: string): void {
    if (!isObject(value)) {
      noted(text);
      return;
    }
    messages += 1;
    events.message(value);
  }

  return (line) => {
    const value = parse(line);
    if (value === undefined) {
      if (line.trim() !== "") noted(line);
    } else if (Array.isArray(value) && value.length > 0) {
      for (const member of value) deliver(member, line);
    } else deliver(value, line);
  };
}

/** A carriage return at the end is white space to JSON; a byte order mark is not. */
function parse(text: string): unknown {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  return opensJson(json) ? parseJson(json) : undefined;
}

/** Log lines are told apart by their first character: a failed parse costs an error with its stack. */
function opensJson(text: string): boolean {
  const first = text.charCodeAt(0);
  return first === 0x7b || first === 0x5b || /^\s*[[{]/.test(text);
}
