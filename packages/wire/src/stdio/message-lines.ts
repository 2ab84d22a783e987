/** Parses the lines of a server's stdout into messages; reports the first few lines that are not messages. */

import { WireError } from "../errors.ts";
import type { ChannelEvents } from "../rpc/channel.ts";
import { isObject, parseJson } from "../shapes/json.ts";

const reportedNoise = 3;
const shownCharacters = 200;
/** A program that writes this many lines without a message is not an MCP server. */
const noiseLimit = 1000;

/** The listeners of the parser. */
export interface MessageLineOptions {
  readonly events: Pick<ChannelEvents, "message" | "diagnostic">;
  /** Called when the program is not an MCP server. */
  readonly notAServer: (cause: WireError) => void;
}

/** Returns the function that takes each line. */
export function createMessageLines({ events, notAServer }: MessageLineOptions): (line: string) => void {
  let noise = 0;
  let messages = 0;
  let firstBytes = "";

  function reportNoise(text: string): void {
    noise += 1;
    if (noise === 1) firstBytes = text.slice(0, shownCharacters);
    if (noise <= reportedNoise) {
      const last = noise === reportedNoise ? "; further lines are not reported" : "";
      events.diagnostic(`a line on stdout is not a message: ${JSON.stringify(text.slice(0, shownCharacters))}${last}`);
    }
    if (noise > noiseLimit && messages === 0) {
      const lines = noiseLimit.toLocaleString("en");
      notAServer(
        new WireError("bad_message", `the program is not an MCP server: it wrote ${lines} lines and no message`, {
          firstBytes,
        }),
      );
    }
  }

  function deliver(value: unknown, text: string): void {
    if (!isObject(value)) {
      reportNoise(text);
      return;
    }
    messages += 1;
    events.message(value);
  }

  return (line) => {
    const value = parse(line);
    if (value === undefined) {
      if (line.trim() !== "") reportNoise(line);
    } else if (Array.isArray(value) && value.length > 0) {
      for (const member of value) deliver(member, line);
    } else deliver(value, line);
  };
}

/** `JSON.parse` accepts a carriage return at the end, but not a byte order mark. */
function parse(text: string): unknown {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  return opensJson(json) ? parseJson(json) : undefined;
}

/** Checks the first character, because a failed `JSON.parse` is slow and log lines are frequent. */
function opensJson(text: string): boolean {
  const first = text.charCodeAt(0);
  return first === 0x7b || first === 0x5b || /^\s*[[{]/.test(text);
}
