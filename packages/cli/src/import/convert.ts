/** Converts one server of another program to a settings entry. Pure. */

import { posix, win32 } from "node:path";
import { parseJsonc } from "@fairlead/core/files";
import {
  childNode,
  findVariables,
  isOwnServer,
  type Mistake,
  readTransport,
  validate,
  whyNotUrl,
} from "@fairlead/core/settings";
import {
  type ConversionContext,
  convertTimeout,
  type EntryDraft,
  FieldReader,
  isVariableName,
  literal,
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
  if (kind === "stdio") convertSandbox(reader, draft, context);
  if (kind !== undefined && kind !== "stdio") convertAddress(reader, draft, kind, context.program);
  if (context.program === "codex") convertCodexKeys(reader, draft, kind);
  if (context.program === "goose" && kind === "stdio") convertGooseKeys(reader, draft);
  if (context.program === "pi") refuseCommands(reader);
  if (kind !== undefined && kind !== "stdio") convertToken(reader, draft, context.program);
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
  const { timeout, includeTools, excludeTools } = programs[program];
  if (timeout !== undefined) convertTimeout(reader, draft, timeout.key, timeout.unit);
  const included = includeTools === undefined ? undefined : reader.names(includeTools);
  // In goose, an empty list means that all tools are offered.
  if (included && (included.length > 0 || program !== "goose")) draft.set("includeTools", included);
  const excluded = ["disabledTools", excludeTools].flatMap((key) => (key && reader.names(key)) || []);
  if (excluded.length > 0) draft.set("excludeTools", excluded);
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
  ["startupTimeoutMs", connectTimeout],
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
    // Another program's file must not choose a program that Fairlead runs, such as by `${command:…}`.
    ...findVariables(node, undefined, { isWorkspace: true }).mistakes.map((mistake) =>
      obstacle(mistake.text.where, whatIsWrong(mistake)),
    ),
    ...checkAddress(entry["url"]),
  ];
}

function whatIsWrong(mistake: Mistake): string {
  switch (mistake.kind) {
    case "malformed":
      return `cannot be expanded: ${mistake.reason}`;
    case "secret-in-path":
      return `uses the secret ${mistake.secret}; a command and its folder are shown and approved, so they must not contain a secret`;
    case "command-in-workspace":
      return "uses ${command:…}, which Fairlead does not import: write it in your settings, if the program may run";
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

// Converts the keys of a server with a command or a URL, and the keys that only Codex has.

/** Converts the keys of a server with a command. Returns the path of its `envFile`; the caller converts that file. */
function convertCommand(reader: FieldReader, draft: EntryDraft, context: ConversionContext): string | undefined {
  const command = reader.text("command");
  // Programs search for a command without a slash in PATH, so it means the same program in every folder.
  const isPath = command?.includes("/") || (context.platform === "win32" && command?.includes("\\"));
  if (command !== undefined) draft.set("command", isPath ? anchored("command", command, reader, context) : command);
  const args = reader.texts("args");
  if (args && args.length > 0) draft.set("args", args);
  const env = reader.table("env");
  if (env && env.size > 0) draft.set("env", env);
  const cwd = reader.text("cwd");
  if (cwd !== undefined) draft.set("cwd", anchored("cwd", cwd, reader, context));
  else for (const [at, argument] of (args ?? []).entries()) hintAtRelative(`args[${at}]`, argument, reader, context);
  const envFile = reader.raw("envFile");
  if (envFile !== undefined && typeof envFile !== "string") reader.remark("dropped", "envFile", "is not a string");
  return typeof envFile === "string" ? envFile : undefined;
}

const sandboxLists: ReadonlyMap<string, readonly string[]> = new Map([
  ["filesystem", ["allowWrite", "denyRead", "denyWrite"]],
  ["network", ["allowedDomains", "deniedDomains"]],
]);

/** Converts the sandbox of VS Code. Fairlead reads the same keys, but means the folder of its own settings. */
function convertSandbox(reader: FieldReader, draft: EntryDraft, context: ConversionContext): void {
  const isOn = reader.raw("sandboxEnabled");
  const written = reader.raw("sandbox");
  if (isOn !== undefined && typeof isOn !== "boolean") reader.refuse("sandboxEnabled", "is neither true nor false");
  if (isOn !== true) return;
  draft.set("sandboxEnabled", true);
  const groups = written === undefined ? new Map<string, unknown>() : foreignFields(written);
  if (!groups) {
    reader.refuse("sandbox", "is not an object");
    return;
  }
  const profile = new Map<string, unknown>();
  for (const [group, value] of groups) {
    const lists = foreignFields(value);
    const knownLists = sandboxLists.get(group);
    if (knownLists === undefined || !lists)
      reader.remark("dropped", `sandbox.${group}`, "Fairlead has no such setting");
    else {
      const converted = new Map<string, unknown>();
      for (const [key, list] of lists) {
        const where = `sandbox.${group}.${key}`;
        if (!knownLists.includes(key)) reader.remark("dropped", where, "Fairlead has no such setting");
        else if (!Array.isArray(list) || !list.every((one): one is string => typeof one === "string"))
          reader.refuse(where, "is not a list of texts");
        else converted.set(key, group === "filesystem" ? pathsOf(list, where, reader, context) : list);
      }
      profile.set(group, Object.fromEntries(converted));
    }
  }
  if (profile.size > 0) draft.set("sandbox", profile);
}

/** The paths of a sandbox, which begin in the project folder. */
function pathsOf(
  paths: readonly string[],
  key: string,
  reader: FieldReader,
  context: ConversionContext,
): readonly string[] {
  if (staysInPlace(context)) return paths;
  const { folder } = context;
  return paths.map((path) => {
    const isOfProject = path.includes("${workspaceFolder}") || !/^(~|\/|\$\{userHome\})/.test(path);
    if (!isOfProject) return path;
    if (folder === undefined) reader.refuse(key, `has ${path}, whose folder is not known: write the whole path`);
    return path.includes("${workspaceFolder}")
      ? path.replaceAll("${workspaceFolder}", () => folder ?? "")
      : posix.join(folder ?? "", path);
  });
}

/**
 * Makes a relative path absolute, because the other program resolves it in the project folder. The path stays relative
 * if the entry belongs to no project, or goes into the settings of the same project.
 */
function anchored(key: string, value: string, reader: FieldReader, context: ConversionContext): string {
  const path = context.platform === "win32" ? win32 : posix;
  /*
   * A path that begins with a variable stays as it is, because the value may be an absolute path. `$$` is a dollar
   * sign.
   */
  if (path.isAbsolute(value) || /^(~|\$[^$])/.test(value) || staysInPlace(context)) return value;
  if (context.folder === undefined) {
    const where = context.target === "user" ? "your home folder" : "the workspace";
    reader.remark("hint", key, `is a relative path; Fairlead resolves it in ${where}`);
    return value;
  }
  const whole = path.join(literal(context.folder), value);
  reader.remark("converted", key, `is a path relative to the project folder, so it becomes ${whole}`);
  return whole;
}

function hintAtRelative(key: string, value: string, reader: FieldReader, context: ConversionContext): void {
  if (context.folder === undefined || staysInPlace(context) || !/^\.\.?([/\\]|$)/.test(value)) return;
  const message = `is relative to ${context.folder}, but Fairlead starts the server in another folder: add "cwd", or write an absolute path`;
  reader.remark("hint", key, message, context.folder === context.root ? "fairlead mcp import -s project" : undefined);
}

function staysInPlace({ target, folder, root }: ConversionContext): boolean {
  return target === "workspace" && folder === root;
}

/** Converts the keys of a server with a URL: address, headers, and a registered OAuth client. */
function convertAddress(
  reader: FieldReader,
  draft: EntryDraft,
  kind: Exclude<TransportKind, "stdio">,
  program: Program,
): void {
  const url = reader.text(["serverUrl", "httpUrl"].find((key) => reader.has(key)) ?? "url");
  if (url !== undefined) draft.set("url", url);
  if (kind !== "url") draft.set("type", kind);
  const headers = reader.table("headers");
  if (headers && headers.size > 0) draft.set("headers", headers);
  const provider = reader.peek("authProviderType");
  if (program === "antigravity" && typeof provider === "string")
    draft.set("authProviderType", reader.raw("authProviderType"));
  convertClient(reader, draft, program);
}

const clientKeys: ReadonlyMap<string, "clientId" | "clientSecret" | "scopes"> = new Map([
  ["clientId", "clientId"],
  ["client_id", "clientId"],
  ["CLIENT_ID", "clientId"],
  ["clientSecret", "clientSecret"],
  ["CLIENT_SECRET", "clientSecret"],
  ["scopes", "scopes"],
]);

function convertClient(reader: FieldReader, draft: EntryDraft, program: Program): void {
  const key = program === "cursor" ? "auth" : "oauth";
  const oauth = new Map<string, unknown>();
  for (const [name, value] of foreignFields(reader.raw(key)) ?? []) {
    const where = `${key}.${name}`;
    const ours = clientKeys.get(name);
    const text = typeof value === "string" ? reader.convert(value, where) : undefined;
    const converted = ours === "scopes" ? scopesOf(value, where, reader) : text;
    if (ours === undefined || converted === undefined) reader.remark("dropped", where, "Fairlead has no such setting");
    else oauth.set(ours, converted);
  }
  const scopes = program === "codex" ? scopesOf(reader.raw("scopes"), "scopes", reader) : undefined;
  if (scopes) oauth.set("scopes", scopes);
  if (oauth.size > 0) draft.set("oauth", oauth);
}

/** Reads scopes from a list, or from one string with spaces. */
function scopesOf(value: unknown, key: string, reader: FieldReader): readonly string[] | undefined {
  const list: readonly unknown[] = typeof value === "string" ? value.split(" ") : Array.isArray(value) ? value : [];
  const scopes = list.flatMap((one) => (typeof one === "string" && one !== "" ? reader.convert(one, key) : []));
  return scopes.length > 0 ? scopes : undefined;
}

/** Converts keys that only Codex has. They contain variable names without `$`, and times in seconds. */
function convertCodexKeys(reader: FieldReader, draft: EntryDraft, kind: TransportKind | undefined): void {
  // Reads `name`, so that no remark reports it as unknown. It is an old display name, which Codex ignores too.
  reader.raw("name");
  if (kind === "stdio") forwardVariables(reader, draft);
  if (kind === "http") convertHeaders(reader, draft);
}

/** Converts `env_vars`: names of variables that Codex passes on to the server from its own environment. */
function forwardVariables(reader: FieldReader, draft: EntryDraft): void {
  const listed = reader.raw("env_vars");
  if (listed === undefined) return;
  const list: readonly unknown[] = Array.isArray(listed) ? listed : [];
  if (!Array.isArray(listed)) reader.refuse("env_vars", "is not a list");
  const env = tableIn(draft, "env");
  for (const [at, one] of list.entries()) {
    const key = `env_vars[${at}]`;
    const fields = foreignFields(one);
    const isLocal = (fields?.get("source") ?? "local") === "local";
    const name = isLocal ? variableIn(reader, key, fields ? fields.get("name") : one) : undefined;
    if (!isLocal) reader.remark("dropped", key, "comes from a remote environment, which Fairlead cannot read");
    if (name !== undefined) env.set(name, `\${${name}}`);
  }
  if (env.size > 0) draft.set("env", env);
}

function convertHeaders(reader: FieldReader, draft: EntryDraft): void {
  const headers = tableIn(draft, "headers");
  for (const [header, value] of reader.table("http_headers") ?? []) headers.set(header, value);
  for (const [header, value] of foreignFields(reader.raw("env_http_headers")) ?? []) {
    const name = variableIn(reader, `env_http_headers.${header}`, value);
    if (name !== undefined) headers.set(header, `\${${name}}`);
  }
  if (headers.size > 0) draft.set("headers", headers);
}

/** Converts a token that has a key of its own to the header `Authorization`. */
function convertToken(reader: FieldReader, draft: EntryDraft, program: Program): void {
  const { token: tokenKey, tokenVariable } = programs[program];
  const token = tokenKey === undefined ? undefined : reader.text(tokenKey);
  const variable =
    tokenVariable !== undefined && reader.has(tokenVariable)
      ? variableIn(reader, tokenVariable, reader.raw(tokenVariable))
      : undefined;
  if (token === undefined && variable === undefined) return;
  const headers = tableIn(draft, "headers");
  headers.set("Authorization", `Bearer ${token ?? `\${${variable}}`}`);
  draft.set("headers", headers);
}

/**
 * Converts `env_keys` of goose: names of variables whose values goose keeps in the system's keychain. Fairlead cannot
 * read them there.
 */
function convertGooseKeys(reader: FieldReader, draft: EntryDraft): void {
  const names = reader.names("env_keys") ?? [];
  const env = tableIn(draft, "env");
  for (const name of names.filter((one) => isVariableName(one) && !env.has(one))) {
    env.set(name, `\${secret:${name}}`);
    const message = `goose keeps the value of ${name} in the keychain; Fairlead uses the stored secret ${name} instead`;
    reader.remark("hint", "env_keys", message, `fairlead secret set ${name}`);
  }
  if (env.size > 0) draft.set("env", env);
}

/** Refuses values that begin with `!`: Pi runs the rest as a command and uses its output, or takes `!!` for one `!`. */
function refuseCommands(reader: FieldReader): void {
  for (const key of ["env", "headers"])
    for (const [name, value] of foreignFields(reader.peek(key)) ?? [])
      if (typeof value === "string" && value.startsWith("!"))
        reader.refuse(
          `${key}.${name}`,
          "begins with !, so Pi runs it as a command to get the value; write the value itself",
        );
}

function variableIn(reader: FieldReader, key: string, value: unknown): string | undefined {
  if (typeof value !== "string" || !isVariableName(value))
    return reader.refuse(key, "contains no valid variable name (letters, digits and underscores only)");
  reader.remark("converted", key, `the entry refers to the variable ${value} as \${${value}}`);
  return value;
}

function tableIn(draft: EntryDraft, key: "env" | "headers"): Map<string, string> {
  const table = draft.get(key);
  return table instanceof Map ? new Map<string, string>(table) : new Map();
}

// Converts `npx mcp-remote URL …` to the URL. The program mcp-remote only connects to that URL, which Fairlead can
// do itself.

const runners = /(^|[/\\])(npx|bunx|pnpx|pnpm|yarn|bun|npm|mcp-remote)(\.cmd|\.exe)?$/i;
const packageName = /^mcp-remote(@[\w.^~-]+)?$/;
const runnerWords = new Set(["-y", "--yes", "-q", "--quiet", "dlx", "x", "exec", "--", "-p", "--package"]);
const ignoredFlags = new Set(["--debug", "--silent", "--allow-http", "--enable-proxy"]);
const ignoredOptions = new Set(["--host", "--auth-timeout"]);
/**
 * The transports that mcp-remote can use. By default, mcp-remote tries both HTTP and SSE, as Fairlead does for a `url`.
 */
const transports: ReadonlyMap<string, Exclude<TransportKind, "stdio">> = new Map([
  ["http-only", "http"],
  ["sse-only", "sse"],
  ["http-first", "url"],
  ["sse-first", "url"],
]);

interface RemoteProxy {
  readonly url: string;
  readonly kind: Exclude<TransportKind, "stdio">;
  readonly headers: ReadonlyMap<string, string>;
  readonly excludeTools: readonly string[];
}

/**
 * If the entry runs mcp-remote, writes mcp-remote's URL into the new entry. Returns false if the entry runs another
 * program, has an `envFile`, or uses an option that Fairlead cannot convert.
 */
function convertMcpRemote(reader: FieldReader, draft: EntryDraft): boolean {
  const command = reader.peek("command");
  const args = reader.peek("args");
  if (typeof command !== "string" || !Array.isArray(args) || !runners.test(command) || reader.has("envFile"))
    return false;
  const words = [...(packageName.test(command.split(/[/\\]/).at(-1) ?? "") ? ["mcp-remote"] : []), ...args.map(String)];
  const at = words.findIndex((word) => packageName.test(word));
  if (at === -1 || words.slice(0, at).some((word) => !runnerWords.has(word))) return false;
  const proxy = readProxy(words.slice(at + 1));
  if (proxy === undefined) {
    reader.remark(
      "hint",
      "args",
      "mcp-remote has options that Fairlead cannot convert, so the entry still runs mcp-remote",
    );
    return false;
  }
  reader.raw("command");
  reader.raw("args");
  write(proxy, reader, draft);
  return true;
}

function readProxy(words: readonly string[]): RemoteProxy | undefined {
  const [url = "", ...rest] = words;
  if (!/^https?:\/\//i.test(url)) return undefined;
  const headers = new Map<string, string>();
  const excludeTools: string[] = [];
  let kind: RemoteProxy["kind"] | undefined = "url";
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? "";
    // An argument that is a number is the port on which mcp-remote waits for the browser.
    if (ignoredFlags.has(word) || /^\d{1,5}$/.test(word)) continue;
    const value = rest[at + 1];
    at += 1;
    if (value === undefined) return undefined;
    const [, name = "", text = ""] = /^([^:\s]+):\s*([\s\S]*)$/.exec(value) ?? [];
    if (word === "--header" && name !== "") headers.set(name, text);
    else if (word === "--transport") kind = transports.get(value);
    else if (word === "--ignore-tool") excludeTools.push(value);
    else if (!ignoredOptions.has(word)) return undefined;
  }
  return kind && { url, kind, headers, excludeTools };
}

function write({ url, kind, headers, excludeTools }: RemoteProxy, reader: FieldReader, draft: EntryDraft): void {
  const env = foreignFields(reader.raw("env")) ?? new Map<string, unknown>();
  const used = new Set<string>();

  /** Converts references. In a header, mcp-remote takes `${NAME}` from the entry's `env` or from the environment. */
  function expanded(text: string, key: string): string {
    return text
      .split(/(\$\{[^}]*\})/)
      .map((part) => {
        const [, name = ""] = /^\$\{([^}]*)\}$/.exec(part) ?? [];
        if (!isVariableName(name)) return reader.convert(part, key);
        used.add(name);
        const value = env.get(name);
        const isText = ["string", "number", "boolean"].includes(typeof value);
        return isText ? reader.convert(`${value as string | number | boolean}`, key) : `\${${name}}`;
      })
      .join("");
  }

  draft.set("url", reader.convert(url, "url"));
  if (kind !== "url") draft.set("type", kind);
  if (headers.size > 0)
    draft.set("headers", new Map([...headers].map(([name, text]) => [name, expanded(text, `headers.${name}`)])));
  if (excludeTools.length > 0) draft.set("excludeTools", excludeTools);
  reader.remark("converted", "command", "mcp-remote only connects to a URL, which Fairlead does itself");
  reader.remark(
    "hint",
    "url",
    "Fairlead does not use mcp-remote's stored sign-in: if the server requires a sign-in, run fairlead mcp auth",
  );
  for (const name of env.keys())
    if (!used.has(name))
      reader.remark("dropped", `env.${name}`, "has no effect on a server that is reached by its URL");
}
