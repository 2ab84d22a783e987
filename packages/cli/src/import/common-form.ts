/** Converts each program's entries to the form that Claude Desktop, Cursor and most other programs use. Checks no values. */

import { isObject } from "@fairlead/wire/json";
import type { Program } from "./program.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The programs whose entries differ from the common form. */
const forms: Partial<Readonly<Record<Program, (entry: Fields) => Fields>>> = {
  zed: fromZed,
  opencode: fromOpencode,
  kilo: fromOpencode,
  antigravity: fromAntigravity,
  "copilot-cli": fromCopilot,
  cline: fromCline,
  "cline-cli": fromCline,
  goose: fromGoose,
  mcporter: fromMcporter,
  pi: withShellReferences,
};

/** Returns the entry with the keys that most programs use. */
export function toCommonForm(program: Program, entry: unknown): unknown {
  return isObject(entry) ? (forms[program]?.(entry) ?? entry) : entry;
}

/** Returns a copy of the entry in which the keys of `names` have other names. The first of two keys for one name counts. */
function renamed(entry: Fields, names: Readonly<Record<string, string>>): Fields {
  const fields = new Map<string, unknown>();
  for (const [key, value] of Object.entries(entry)) {
    const name = Object.hasOwn(names, key) ? (names[key] ?? key) : key;
    if (!fields.has(name)) fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/** Converts an entry of Zed, also in the older form `command: { path, args, env }`. */
function fromZed({ source: _source, command, ...rest }: Fields): Fields {
  if (!isObject(command)) return command === undefined ? rest : { command, ...rest };
  const { path, ...others } = command;
  return { command: path, ...others, ...rest };
}

/**
 * Converts an entry of opencode or Kilo: `command` is a list, `environment` holds the variables, and references are
 * `{env:NAME}` and `{file:PATH}`.
 */
function fromOpencode({ type, environment, ...rest }: Fields): Fields {
  const isKnownType = type === "local" || type === "remote" || type === undefined;
  const env = environment === undefined ? {} : { env: environment };
  return withReferences({ ...(isKnownType ? {} : { type }), ...withCommandList(rest), ...env });
}

function withCommandList({ command, ...rest }: Fields): Fields {
  if (command === undefined) return rest;
  if (!Array.isArray(command)) return { command, ...rest };
  const [program, ...args] = command as readonly unknown[];
  return { command: program, ...(args.length > 0 && { args }), ...rest };
}

function withReferences(entry: Fields): Fields {
  return inTexts(entry, (text) =>
    text.replaceAll(/\{(env|file):([^{}]*)\}/g, (_all, kind: string, body: string) => `\${${kind}:${body}}`),
  );
}

/** `$env:NAME` and `{env:NAME}` of mcporter and Pi mean the same as `${NAME}`. */
function withShellReferences(entry: Fields): Fields {
  return inTexts(entry, (text) =>
    text.replaceAll(
      /\$env:(\w+)|(?<!\$)\{env:(\w+)\}/g,
      (_all, name?: string, other?: string) => `\${${name ?? other}}`,
    ),
  );
}

function inTexts(entry: Fields, change: (text: string) => string): Fields {
  const changed = (value: unknown): unknown => {
    if (typeof value === "string") return change(value);
    if (Array.isArray(value)) return value.map(changed);
    return isObject(value) ? inTexts(value, change) : value;
  };
  return Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, changed(value)]));
}

/** Antigravity uses `serverUrl` where an entry also has a command or another address. */
function fromAntigravity(entry: Fields): Fields {
  if (typeof entry["serverUrl"] !== "string") return entry;
  const { command: _command, args: _args, env: _env, cwd: _cwd, url: _url, httpUrl: _httpUrl, ...rest } = entry;
  return rest;
}

/** Copilot CLI calls a server with a command `local`. `tools` lists the offered tools; `*` stands for all of them. */
function fromCopilot({ type, tools, ...rest }: Fields): Fields {
  const isAll = tools === undefined || (Array.isArray(tools) && tools.includes("*"));
  return {
    ...(type !== undefined && { type: type === "local" ? "stdio" : type }),
    ...(!isAll && { includeTools: tools }),
    ...rest,
  };
}

/** Newer versions of Cline write the command or the URL in an object: `transport: { type, command, … }`. */
function fromCline(entry: Fields): Fields {
  const { transport, ...rest } = entry;
  const flat = isObject(transport) ? { ...transport, ...rest } : entry;
  // Without a type, Cline speaks SSE to a URL.
  const isBare = flat["url"] !== undefined && flat["type"] === undefined && flat["transportType"] === undefined;
  return isBare ? { type: "sse", ...flat } : flat;
}

function fromGoose({ name: _name, display_name: _display, bundled: _bundled, ...rest }: Fields): Fields {
  return renamed(rest, { cmd: "command", envs: "env", uri: "url" });
}

/** mcporter accepts most keys in two spellings, and several names for the address. */
function fromMcporter(entry: Fields): Fields {
  const names = {
    baseUrl: "url",
    base_url: "url",
    serverUrl: "url",
    server_url: "url",
    executable: "command",
    bearer_token: "bearerToken",
    bearer_token_env: "bearerTokenEnv",
    allowed_tools: "allowedTools",
    blocked_tools: "blockedTools",
  };
  return withShellReferences(withCommandList(renamed(entry, names)));
}
