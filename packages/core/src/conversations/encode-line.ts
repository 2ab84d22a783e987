/** Encodes a line of a recorded conversation: hides secrets, and replaces media by its digest. Pure. */

import { createHash } from "node:crypto";
import { isObject } from "@fairlead/wire/json";
import type { Redact } from "../connect/redact.ts";
import type { RecordedLine } from "./format.ts";

/** The bytes of media, by their SHA-256 digest. */
export type MediaFiles = ReadonlyMap<string, Buffer>;

/** A line of text without its line break, and the media that it refers to. */
export interface EncodedLine {
  readonly text: string;
  readonly media: MediaFiles;
}

/**
 * Types of lines in which nothing is hidden. They contain only names, paths, numbers and digests, which must stay
 * exact.
 */
const withoutSecrets: ReadonlySet<RecordedLine["type"]> = new Set([
  "model",
  "names",
  "offered",
  "result",
  "tool",
  "approval",
  "resumed",
  "rewind",
  "waiting",
  "usage",
] as const);

/**
 * Members whose values must stay exact, because Fairlead compares them or sends them back to the model. Arguments and
 * results may contain members with the same names; secrets in those are hidden.
 */
const kept: ReadonlySet<string> = new Set(
  "type time id name role status code server serverToolName mimeType digest thoughtSignature".split(" "),
);

/** Members whose content comes from models or servers. */
const foreign: ReadonlySet<string> = new Set(["args", "response"]);

const mostLevels = 150;
const tooDeep = "(nested too deeply to record)";

/** Converts a line to JSON with hidden secrets. Media becomes a digest, with its bytes in `media`. */
export function encodeLine(line: RecordedLine, hide: Redact): EncodedLine {
  const media = new Map<string, Buffer>();
  if (withoutSecrets.has(line.type)) return { text: JSON.stringify(line), media };

  /** @param isForeign Whether the value comes from arguments or results. Their keys may contain secrets too. */
  function copy(value: unknown, level: number, isForeign: boolean): unknown {
    if (typeof value === "string") return hide(value);
    if (typeof value !== "object" || value === null) return value;
    if (level > mostLevels) return tooDeep;
    if (Array.isArray(value)) return value.map((item) => copy(item, level + 1, isForeign));
    const taken = isObject(value) ? takeMedia(value, media) : undefined;
    if (taken !== undefined) return taken;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const isKept = !isForeign && typeof member === "string" && (kept.has(key) || isDoneReason(key));
        const name = isForeign ? hide(key) : key;
        return [name, isKept ? member : copy(member, level + 1, isForeign || foreign.has(key))];
      }),
    );
  }

  const isDoneReason = (key: string): boolean => line.type === "done" && key === "reason";
  return { text: JSON.stringify(copy(line, 0, false)), media };
}

/** Replaces the data of media by its digest. Undefined if the value is not media. */
function takeMedia(value: Readonly<Record<string, unknown>>, media: Map<string, Buffer>): object | undefined {
  const { mimeType, data, ...others } = value;
  if (typeof mimeType !== "string" || typeof data !== "string" || Object.keys(others).length > 0) return undefined;
  const bytes = Buffer.from(data, "base64");
  // Invalid Base64 stays in the line, because decoding and encoding would change it.
  if (bytes.toString("base64") !== data) return undefined;
  const digest = createHash("sha256").update(bytes).digest("hex");
  media.set(digest, bytes);
  return { mimeType, digest };
}
