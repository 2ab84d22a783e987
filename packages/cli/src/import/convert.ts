/** Converts one server of another program to a settings entry. Pure. */

import { parseJsonc } from "@fairlead/core/files/json/jsonc";
import { readTransport } from "@fairlead/core/settings/define/entry-transport";
import { findVariables, type Mistake } from "@fairlead/core/settings/define/mentions";
import { isOwnServer } from "@fairlead/core/settings/own-server";
import { childNode } from "@fairlead/core/settings/read/nodes";
import { validate, whyNotUrl } from "@fairlead/core/settings/schema/validate";
import { convertAddress, convertCodexKeys, convertCommand, convertMcpRemote } from "./convert-transport.ts";
import {
  type ConversionContext,
  convertTimeout,
  type EntryDraft,
  FieldReader,
  type TransportKind,
  toEntry,
} from "./field-reader.ts";
import { type ForeignServer, foreignFields } from "./foreign-file.ts";
import { type Program, programs, type Remark } from "./program.ts";

/** The new entry, and what the user should know about it. If a remark is an `obstacle`, the entry cannot be used. */
export interface Conversion {
  readonly entry: Readonly<Record<string, unknown>>;
  readonly enabled: boolean;
  /** The path of the entry's `envFile`, as written. The caller reads the file and converts it. */
  readonly envFile?: string;
  readonly remarks: readonly Remark[];
}

/** Converts a server's entry. If this fails, `remarks` contains an `obstacle`. */
export function convertServer({ name, value, disabled }: ForeignServer, context: ConversionContext): Conversion {
  const fields = foreignFields(value);
  if (!fields) return refused("the entry is not a JSON object");
  if (isOwnServer(name, value)) return refused("the entry starts Fairlead itself");
  const remarks: Remark[] = [];
  const reader = new FieldReader(fields, context, remarks);
  const draft: EntryDraft = new Map();
  const written = transportKind(reader, context.program);
  const isRemote = written === "stdio" && convertMcpRemote(reader, draft);
  const kind = isRemote ? undefined : written;
  const envFile = kind === "stdio" ? convertCommand(reader, draft, context) : undefined;
  if (kind !== undefined && kind !== "stdio") convertAddress(reader, draft, kind, context.program);
  if (context.program === "codex") convertCodexKeys(reader, draft, kind);
  convertCommonKeys(reader, draft, context.program);
  const enabled = isEnabled(reader, disabled);
  // If the entry has no usable transport, further remarks do not help the user.
  if (written === undefined) return { entry: {}, enabled, remarks };
  for (const key of reader.rest()) reader.remark("dropped", key, whyDropped(key, kind ?? "url"));
  const entry = toEntry(draft);
  if (!remarks.some((remark) => remark.kind === "obstacle")) remarks.push(...checkEntry(name, entry));
  return { entry, enabled, envFile, remarks };
}

function refused(message: string): Conversion {
  return { entry: {}, enabled: true, remarks: [{ kind: "obstacle", key: "", message }] };
}

const transportNames: ReadonlyMap<string, TransportKind> = new Map([
  ["stdio", "stdio"],
  ["http", "http"],
  ["streamable-http", "http"],
  ["streamable_http", "http"],
  ["streamablehttp", "http"],
  ["sse", "sse"],
]);

function transportKind(reader: FieldReader, program: Program): TransportKind | undefined {
  const key = ["type", "transport", "transportType"].find((name) => reader.has(name));
  const written = key === undefined ? undefined : reader.raw(key);
  const declared = typeof written === "string" ? transportNames.get(written.toLowerCase()) : undefined;
  if (key !== undefined && declared === undefined)
    return reader.refuse(key, "is not a transport that Fairlead supports (stdio, http, sse)");
  const addresses = ["url", "serverUrl", "httpUrl"].filter((name) => reader.has(name));
  if (declared === "stdio" || (declared === undefined && reader.has("command"))) {
    if (!reader.has("command")) return reader.refuse("command", "is missing");
    return addresses.length > 0 && declared === undefined
      ? reader.refuse("", "the entry has both a command and a URL")
      : "stdio";
  }
  if (addresses.length > 1) return reader.refuse("", `the entry has several addresses: ${addresses.join(", ")}`);
  if (addresses.length === 0)
    return reader.refuse("", declared ? "the entry has no URL" : "the entry has neither a command nor a URL");
  if (program === "codex" || addresses[0] === "httpUrl") return "http";
  return declared === "http" && programs[program].httpFallsBack ? "url" : (declared ?? "url");
}

function convertCommonKeys(reader: FieldReader, draft: EntryDraft, program: Program): void {
  if (programs[program].timeout) convertTimeout(reader, draft, "timeout", "milliseconds");
  const excluded = reader.names("disabledTools");
  if (excluded) draft.set("excludeTools", excluded);
  const description = reader.raw("description");
  if (typeof description === "string") draft.set("description", description);
}

function isEnabled(reader: FieldReader, disabled: boolean): boolean {
  const off = [reader.raw("disabled") === true, reader.raw("enabled") === false, disabled].includes(true);
  if (off)
    reader.remark(
      "converted",
      "enabled",
      "the other program has disabled the server, so Fairlead imports it as disabled; to enable it: fairlead mcp enable NAME",
    );
  return !off;
}

const approvals = "Fairlead asks before a tool runs, even if another program does not";
const connectTimeout = "Fairlead has one connect timeout for all servers: fairlead.connectTimeout, in milliseconds";
const reasons: ReadonlyMap<string, string> = new Map([
  ["autoApprove", approvals],
  ["alwaysAllow", approvals],
  ["trust", approvals],
  ["tools", approvals],
  ["default_tools_approval_mode", approvals],
  ["startup_timeout_sec", connectTimeout],
  ["startup_timeout_ms", connectTimeout],
  [
    "timeout",
    'the other program does not document its unit (seconds or milliseconds); Fairlead\'s "timeout" is in milliseconds',
  ],
  [
    "headersHelper",
    "Fairlead runs no program to get headers; write them in the entry, with ${NAME} or ${secret:NAME} for secrets",
  ],
]);
const ofCommands = new Set(["command", "args", "env", "cwd", "envFile", "env_vars"]);
const ofAddresses = new Set(
  "url serverUrl httpUrl headers http_headers env_http_headers bearer_token_env_var oauth auth scopes".split(" "),
);

function whyDropped(key: string, kind: TransportKind): string {
  if (kind === "stdio" && ofAddresses.has(key)) return "has no effect on a server that is started by a command";
  if (kind !== "stdio" && ofCommands.has(key)) return "has no effect on a server that is reached by its URL";
  return reasons.get(key) ?? "Fairlead has no such setting";
}

/** Validates a converted entry. Returns one remark for each mistake. */
export function checkEntry(name: string, entry: Readonly<Record<string, unknown>>): readonly Remark[] {
  const servers = Object.fromEntries([[name, entry]]);
  const { root } = parseJsonc(JSON.stringify({ mcpServers: servers }));
  const node = childNode(root, "mcpServers", name);
  if (root === undefined || node === undefined) return [];
  const findings = validate(root).filter(({ severity }) => severity === "error");
  const mistakes: Remark[] = [];
  readTransport(node, (severity, _node, message) => severity === "error" && mistakes.push(obstacle("", message)));
  return [
    ...mistakes,
    ...findings.map(({ path, message }) => obstacle(path.slice(2).join("."), message)),
    ...findVariables(node, undefined).mistakes.map((mistake) => obstacle(mistake.text.where, whatIsWrong(mistake))),
    ...checkAddress(entry["url"]),
  ];
}

function whatIsWrong(mistake: Mistake): string {
  switch (mistake.kind) {
    case "malformed":
      return `cannot be expanded: ${mistake.reason}`;
    case "secret-in-path":
      return `uses the secret ${mistake.secret}; a command and its folder are shown and approved, so they must not contain a secret`;
    case "unset":
    case "confined":
      return `uses ${mistake.variable}, which has no value`;
  }
}

/**
 * Checks the address, unless the address contains a variable. The message does not quote the address, because it may
 * contain a secret.
 */
function checkAddress(value: unknown): readonly Remark[] {
  const isWrong = typeof value === "string" && !value.includes("$") && whyNotUrl(value, "url") !== undefined;
  return isWrong ? [obstacle("url", "is not an http:// or https:// address")] : [];
}

function obstacle(key: string, message: string): Remark {
  return { kind: "obstacle", key, message };
}
