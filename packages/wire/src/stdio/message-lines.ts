/** Parses the lines of a server's stdout into messages. Reports the first few lines that are not messages. */

import { Buffer } from "node:buffer";
import { WireError } from "../errors.ts";
import type { ChannelEvents } from "../rpc/channel.ts";
import { failedParseLines, type ReadBudget } from "../rpc/read-budget.ts";
import { decodeInSlices } from "../shapes/decode.ts";
import { createDiagnostics } from "../shapes/diagnostics.ts";
import { isObject, parseJson } from "../shapes/json.ts";
import type { SliceOptions } from "../shapes/sliced-json.ts";
import { parseLongJson } from "../shapes/sliced-json.ts";

const reportedNoise = 3;
const shownCharacters = 200;
/** A program that writes more lines than this before its first message is not an MCP server. */
const noiseLimit = 1000;
/** Fairlead reads at most this many messages of a JSON-RPC batch. The protocol has had no batches since 2025-06-18. */
const batchLimit = 1000;

/** Where the messages go, and what to do with other lines. */
export interface MessageLineOptions {
  readonly events: Pick<ChannelEvents, "message" | "diagnostic" | "dropped">;
  /** Counts each line, because Fairlead limits how much it reads from one server. */
  readonly budget?: Pick<ReadBudget, "lines" | "unsolicited">;
  /** Called when the program has written too many lines that are not messages. */
  readonly notAServer: (cause: WireError) => void;
}

/** Parses the lines of one server. */
export interface MessageLines {
  readonly take: (line: string) => void;
  /**
   * Takes the bytes of a long line, and parses the line in steps.
   *
   * @param options.nextTurn Waits for the next turn of the event loop. Rejects if the line is no longer needed.
   */
  readonly takeInSlices: (pieces: Buffer[], options: SliceOptions) => Promise<void>;
}

export function createMessageLines({ events, budget, notAServer }: MessageLineOptions): MessageLines {
  let noise = 0;
  let messages = 0;
  let firstBytes = "";
  const diagnose = createDiagnostics((text) => events.diagnostic(text));

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

  function deliver(value: unknown, text: string, size: number): void {
    if (!isObject(value)) {
      budget?.unsolicited("lines on stdout that are not messages", size, 1);
      reportNoise(text);
      return;
    }
    messages += 1;
    const unsolicited = events.message(value, size);
    if (unsolicited !== undefined) budget?.unsolicited(unsolicited, size, 1);
  }

  function deliverBatch(batch: readonly unknown[], text: string, size: number): void {
    if (batch.length > batchLimit)
      diagnose("a batch is too long", `a batch has more than ${batchLimit} messages; the others were dropped`);
    const delivered = batch.slice(0, batchLimit);
    budget?.lines(delivered.length);
    for (const member of delivered) deliver(member, text, size / batch.length);
  }

  /** `size`: the line's size in bytes, because all limits are in bytes. */
  function deliverLine(value: unknown, line: string, size: number): void {
    if (value === undefined) {
      const lines = opensJson(line) ? failedParseLines : 1;
      budget?.unsolicited("lines on stdout that are not messages", size, lines);
      if (line.trim() !== "") reportNoise(line);
    } else if (Array.isArray(value) && value.length > 0) deliverBatch(value, line, size);
    else deliver(value, line, size);
  }

  return {
    take(line) {
      budget?.lines(1);
      if (line === "") {
        budget?.unsolicited("blank lines on stdout", 1, 1);
        return;
      }
      const json = withoutMark(line);
      deliverLine(opensJson(json) ? parseJson(json) : undefined, line, Buffer.byteLength(line));
    },
    async takeInSlices(pieces, options) {
      const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
      const line = await decodeInSlices(pieces, options.nextTurn);
      const json = withoutMark(line);
      budget?.lines(1);
      try {
        deliverLine(opensJson(json) ? await parseLongJson(json, options) : undefined, line, size);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        budget?.unsolicited("notifications", size, 1);
        events.dropped(line.slice(0, shownCharacters), error);
      }
    },
  };
}

/** `JSON.parse` does not accept a byte order mark. */
function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Many servers write log lines to stdout, and `JSON.parse` is slow for text that is not JSON. */
function opensJson(text: string): boolean {
  const first = text.charCodeAt(0);
  return first === 0x7b || first === 0x5b || /^\s*[[{]/.test(text);
}
