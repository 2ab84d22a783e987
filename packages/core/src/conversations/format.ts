/**
 * The format of recorded conversations, version 1. Each line is a JSON object. The first line is the head.
 * `docs/recording.md` describes the format.
 */

import { createHash, randomBytes } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { isObject, isShallow, parseJson } from "@fairlead/wire/json";
import type { Redact } from "../connect/redact.ts";
import { errorCodes } from "../errors.ts";
import type { Content, Part } from "../normalise/model-types.ts";
import type { GivenApproval } from "../policy/conversation-approvals.ts";
import type { ConversationChange } from "../turn/conversation.ts";
import type { CallFailure, TurnEvent } from "../turn/events.ts";
import { ownFunctions } from "../turn/tools/own-functions.ts";

const version = 1;

/** The first line of a recorded conversation. */
export interface ConversationHead {
  readonly v: typeof version;
  readonly id: string;
  /** When the conversation began, in ISO 8601. */
  readonly time: string;
  /** The workspace root. */
  readonly workspace: string;
  readonly model: { readonly provider: string; readonly name: string };
}

/**
 * A recorded event of a turn. A `confirmation` is not recorded, because the status of the call shows the user's answer.
 */
export type RecordedEvent =
  | Exclude<TurnEvent, { readonly type: "confirmation" | "error" }>
  | { readonly type: "error"; readonly error: CallFailure };

/** One line of a recorded conversation after the head. */
export type RecordedLine = { readonly time: string } & (
  | RecordedEvent
  | ConversationChange
  | { readonly type: "approval"; readonly approval: GivenApproval }
  /** The conversation was resumed in this workspace. */
  | { readonly type: "resumed"; readonly workspace: string }
);

/**
 * The result of parsing a line. A line of an `unknown` type is skipped: a later version of Fairlead may have written
 * it.
 */
type ParsedLine =
  | { readonly kind: "line"; readonly line: RecordedLine }
  | { readonly kind: "unknown" }
  | { readonly kind: "invalid"; readonly reason: string };

/** Parses the first line. If it is invalid, returns the reason as a text. */
export function parseHead(text: string): ConversationHead | string {
  const head = parseJson(text);
  if (!isObject(head) || typeof head["v"] !== "number") return "the first line is not the head of a conversation";
  const { v, id, time, workspace, model } = head;
  if (v !== version) return `the file has format version ${v}, but this version of Fairlead reads version ${version}`;
  if (typeof id !== "string" || !isConversationId(id)) return "the id of the conversation is invalid";
  if (!areTexts(time, workspace) || !isObject(model) || !areTexts(model["provider"], model["name"]))
    return "the first line is incomplete";
  return head as unknown as ConversationHead;
}

/** How many levels deep the JSON of a line may be nested. Deeper JSON could overflow the stack. */
const mostLevels = 200;

/** Parses and checks one line after the head. Never throws. */
export function parseRecordedLine(text: string): ParsedLine {
  const line = parseJson(text);
  if (!isObject(line) || !areTexts(line["time"], line["type"])) return invalid("the line has no time or no type");
  if (!isShallow(line, mostLevels)) return invalid("the line is nested too deeply");
  const type = String(line["type"]);
  if (!Object.hasOwn(shapes, type)) return { kind: "unknown" };
  if (!shapes[type as RecordedLine["type"]](line)) return invalid(`its "${type}" is incomplete`);
  return { kind: "line", line: line as unknown as RecordedLine };
}

function invalid(reason: string): ParsedLine {
  return { kind: "invalid", reason };
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === "string");
}

function areNumbers(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === "number");
}

function isOptional(value: unknown, isRight: (value: unknown) => boolean): boolean {
  return value === undefined || isRight(value);
}

function isList(value: unknown, isRight: (value: JsonObject) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => isObject(item) && isRight(item));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isMedia = (value: JsonObject): boolean =>
  areTexts(value["mimeType"]) && (isText(value["data"]) || isText(value["digest"]));

function isPart(value: unknown): value is Part {
  if (!isObject(value)) return false;
  const { text, inlineData, functionCall, functionResponse, thoughtSignature } = value;
  return (
    [text, functionCall, functionResponse, inlineData].some((member) => member !== undefined) &&
    isOptional(text, isText) &&
    isOptional(thoughtSignature, isText) &&
    isOptional(inlineData, (media) => isObject(media) && isMedia(media)) &&
    isOptional(functionCall, (call) => isObject(call) && isFunction(call, "args")) &&
    isOptional(functionResponse, (response) => isObject(response) && isResponse(response))
  );
}

function isFunction(value: JsonObject, data: "args" | "response"): boolean {
  return isText(value["name"]) && isOptional(value["id"], isText) && isOptional(value[data], isObject);
}

function isResponse(value: JsonObject): boolean {
  const isInside = ({ inlineData }: JsonObject): boolean => isObject(inlineData) && isMedia(inlineData);
  return isFunction(value, "response") && isOptional(value["parts"], (parts) => isList(parts, isInside));
}

function isContent(value: unknown): value is Content {
  if (!isObject(value)) return false;
  const { role, parts } = value;
  return (role === "user" || role === "model") && Array.isArray(parts) && parts.every(isPart);
}

function isApproval(value: unknown): value is GivenApproval {
  if (!isObject(value) || !isText(value["server"])) return false;
  if (value["kind"] === "reads") return isText(value["fingerprint"]);
  return ["tools", "server"].includes(String(value["kind"])) && isObject(value["keys"]) && isTexts(value["keys"]);
}

const isOwnFunction = (value: unknown): boolean => ownFunctions.some((own) => own === value);
const isTexts = (value: JsonObject): boolean => Object.values(value).every(isText);
const isFailure = (value: unknown): boolean =>
  isObject(value) && errorCodes.some((code) => code === value["code"]) && isText(value["message"]);

const statuses = "requested asking queued running ok error denied cancelled".split(" ");
const reasons = "stop length safety limit cancelled".split(" ");

/** Checks the members of a line, by type of line. */
const shapes: { readonly [T in RecordedLine["type"]]: (line: JsonObject) => boolean } = {
  input: ({ text }) => isText(text),
  content: ({ content }) => isContent(content),
  response: ({ index, part, beside, server }) =>
    isCount(index) &&
    isPart(part) &&
    isOptional(beside, (parts) => Array.isArray(parts) && parts.every(isPart)) &&
    isOptional(server, isText),
  rewind: ({ to }) => isCount(to),
  compact: ({ contents }) => Array.isArray(contents) && contents.every(isContent),
  result: ({ id, what, server }) => areTexts(id, what) && isOptional(server, isText),
  skill: ({ server, uri }) => areTexts(server, uri),
  model: ({ provider, name }) => areTexts(provider, name),
  names: ({ tools, functions }) =>
    isList(tools, ({ server, name, as }) => areTexts(server, name, as)) &&
    isOptional(functions, (names) => isObject(names) && areTexts(...Object.values(names))),
  offered: ({ from, places: declarations }) =>
    isCount(from) &&
    isList(
      declarations,
      (declaration) => areTexts(declaration["server"], declaration["name"]) || isOwnFunction(declaration["function"]),
    ),
  tool: ({ server, serverToolName, enabled }) => areTexts(server, serverToolName) && typeof enabled === "boolean",
  title: ({ title }) => isText(title),
  approval: ({ approval }) => isApproval(approval),
  resumed: ({ workspace }) => isText(workspace),
  text: ({ text }) => isText(text),
  thought: ({ text }) => isText(text),
  call: ({ id, name, args, status, display, error, media, files, server, serverToolName }) =>
    areTexts(id, name) &&
    isObject(args) &&
    statuses.includes(String(status)) &&
    [display, server, serverToolName].every((member) => isOptional(member, isText)) &&
    isOptional(error, isFailure) &&
    isOptional(media, (list) => isList(list, isMedia)) &&
    isOptional(files, isTextList),
  progress: ({ id, progress, total, message }) =>
    isText(id) &&
    areNumbers(progress) &&
    isOptional(total, (value) => areNumbers(value)) &&
    isOptional(message, isText),
  quarantined: ({ server, serverToolName, reason }) => areTexts(server, serverToolName, reason),
  waiting: ({ servers }) => isTextList(servers),
  missing: ({ servers }) => isList(servers, ({ server, message }) => areTexts(server, message)),
  note: ({ message }) => isText(message),
  retry: ({ attempt, delayMs, reason }) => areNumbers(attempt, delayMs) && isText(reason),
  usage: ({ inputTokens, outputTokens }) => areNumbers(inputTokens, outputTokens),
  done: ({ reason, text, denied, calls }) =>
    reasons.includes(String(reason)) && isText(text) && areNumbers(denied, calls),
  error: ({ error }) => isFailure(error),
};

const pattern = /^\d{8}-\d{6}-[0-9a-f]{6}$/;

/** Whether `text` has the form of an id, such as `20260131-093000-a1b2c3`. */
export function isConversationId(text: string): boolean {
  return pattern.test(text);
}

/** A new id from the time in milliseconds (as UTC) and a random suffix. */
export function createConversationId(now: number): string {
  const [date = "", time = ""] = new Date(now).toISOString().replaceAll(/[-:]/g, "").split("T");
  return `${date}-${time.slice(0, 6)}-${randomBytes(3).toString("hex")}`;
}

/** The bytes of media, by their SHA-256 digest. */
type MediaFiles = ReadonlyMap<string, Buffer>;

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
  "skill",
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

const mostRecordedLevels = 150;
const tooDeep = "(nested too deeply to record)";

/** Converts a line to JSON with hidden secrets. Media becomes a digest, with its bytes in `media`. */
export function encodeLine(line: RecordedLine, hide: Redact): EncodedLine {
  const media = new Map<string, Buffer>();
  if (withoutSecrets.has(line.type)) return { text: JSON.stringify(line), media };

  /** @param isForeign Whether the value comes from arguments or results. Their keys may contain secrets too. */
  function copy(value: unknown, level: number, isForeign: boolean): unknown {
    if (typeof value === "string") return hide(value);
    if (typeof value !== "object" || value === null) return value;
    if (level > mostRecordedLevels) return tooDeep;
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
