/** Splits the command line of `mcp add` and turns its arguments and options into settings entries. */

import { HostError } from "@fairlead/core/errors";
import { parseJsonc } from "@fairlead/core/files";
import {
  childNode,
  entriesOf,
  plainValueOf,
  readTransport,
  type Scope,
  splitShellLine,
  validate,
  whyNotServerName,
} from "@fairlead/core/settings";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import { objectOf } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { readTimeout } from "../../../arguments/duration.ts";
import type { Words } from "../../../shell/verb.ts";

/** The value of one server under `mcpServers` in a settings file, not yet checked. */
export type Entry = Readonly<Record<string, unknown>>;

/** A server to write into a settings file. */
export interface NewServer {
  readonly name: string;
  readonly entry: Entry;
}

/** The options of `mcp add` as the user typed them, not yet checked. */
export interface AddOptions {
  readonly transport?: "stdio" | "sse" | "http";
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly timeout?: string;
  readonly trust?: boolean;
  readonly description?: string;
  readonly includeTools?: string;
  readonly excludeTools?: string;
  readonly cwd?: string;
}

interface AddWords {
  readonly operands: readonly string[];
  readonly rest: readonly string[];
  /** Whether the word is the path of a file. Such a word is not split into words, even if it contains spaces. */
  readonly isFile: (path: string) => boolean;
}

/** Returns the servers to add; a JSON snippet can have several. @throws HostError `usage` */
export function newServers({ operands, rest, isFile }: AddWords, options: AddOptions): readonly NewServer[] {
  const [first = "", second] = operands;
  if (targetKind(first) === "snippet") {
    if (second !== undefined)
      throw usage(`unexpected "${second}" after the snippet: the server's name goes before the snippet`);
    return fromSnippet(undefined, first).map((server) => withOptions(server, options));
  }
  if (targetKind(first) === "url") throw usage(`the server's name is missing before "${first}"`);
  if (second === undefined) throw usage(`"${first}" has no command, URL or JSON snippet after it`);
  switch (targetKind(second)) {
    case "snippet":
      return fromSnippet(first, second).map((server) => withOptions(server, options));
    case "url":
      return [withOptions({ name: checkedName(first), entry: { url: checkedUrl(second) } }, options)];
    case "command": {
      if (options.transport === "http" || options.transport === "sse")
        throw usage(`-t ${options.transport} needs a URL that starts with https:// or http://, not "${second}"`);
      const [command = "", ...args] = isFile(second) ? [second, ...rest] : [...commandWords(second), ...rest];
      return [
        withOptions({ name: checkedName(first), entry: { command, ...(args.length > 0 ? { args } : {}) } }, options),
      ];
    }
  }
}

/** Splits a command that was quoted as one word, such as `"npx -y package"`, into words as a shell does. */
function commandWords(word: string): readonly string[] {
  if (!/\s/.test(word.trim())) return [word.trim()];
  const line = splitShellLine(word);
  if (line.kind === "words") return line.words;
  throw usage(`"${word}" is not a valid command line: character ${line.at}, ${line.reason}`);
}

function checkedUrl(url: string): string {
  // A URL with a variable can be checked only after the variable is replaced by its value.
  if (!url.includes("$") && parseUrl(url) === undefined) throw usage(`"${url}" is not a URL`);
  if (!/^https?:/i.test(url)) throw usage(`"${url}" is not supported: a server's URL starts with https:// or http://`);
  return url;
}

function checkedName(name: string): string {
  const flaw = whyNotServerName(name);
  if (flaw === undefined) return name;
  throw usage(`"${toVisibleLine(name)}" is not a valid server name: it ${flaw}`);
}

/** Reads a JSON snippet: `{entry}`, `{"name": {entry}}`, or a settings file with `mcpServers`. */
function fromSnippet(name: string | undefined, text: string): readonly NewServer[] {
  const { root, errors } = parseJsonc(text.trimStart().startsWith("{") ? text : `{${text}}`);
  const [error] = errors;
  if (error) throw usage(`the snippet is not valid JSON: line ${error.line}, column ${error.column}: ${error.message}`);
  const top = entriesOf(root);
  const isEntry = ["command", "url", "httpUrl"].some((key) => top.has(key));
  if (isEntry && root) {
    if (name === undefined) throw usage("the snippet has no server name; write a name before the snippet");
    return [{ name: checkedName(name), entry: plainValueOf(root) as Entry }];
  }
  const servers = [...entriesOf((top.get("mcpServers") ?? top.get("servers"))?.value ?? root).values()];
  const found = servers.filter(({ value }) => value.type === "object");
  if (found.length === 0 || found.length < servers.length)
    throw usage("the snippet has no server: command, url or httpUrl is missing");
  const wanted = name === undefined || found.length === 1 ? found : found.filter((server) => server.name === name);
  if (wanted.length === 0)
    throw usage(`the snippet has no server "${name}", only ${found.map((one) => `"${one.name}"`).join(", ")}`);
  return wanted.map((server) => ({
    name: checkedName(name ?? server.name),
    entry: plainValueOf(server.value) as Entry,
  }));
}

function withOptions({ name, entry }: NewServer, options: AddOptions): NewServer {
  const isCommand = Object.hasOwn(entry, "command");
  const misplaced = isCommand
    ? [options.header && "-H works only with a URL; for a command use -e NAME=VALUE"]
    : [
        options.env && "-e works only with a command; for a URL use -H 'Name: value'",
        options.cwd !== undefined && "--cwd works only with a command",
        options.transport === "stdio" && "-t stdio needs a command, not a URL",
      ];
  const mistake = misplaced.find((text) => text);
  if (mistake) throw usage(mistake);
  const added = new Map<string, unknown>();
  if (!isCommand && options.transport !== undefined) added.set("type", options.transport);
  if (options.env) added.set("env", merged(entry["env"], options.env.map(toVariable)));
  if (options.header) added.set("headers", merged(entry["headers"], options.header.map(toHeader)));
  if (options.cwd !== undefined) added.set("cwd", options.cwd);
  if (options.timeout !== undefined) added.set("timeout", readTimeout(options.timeout, { next: addHelp }));
  if (options.trust) added.set("trust", true);
  if (options.description !== undefined) added.set("description", options.description);
  if (options.includeTools !== undefined) added.set("includeTools", toList(options.includeTools));
  if (options.excludeTools !== undefined) added.set("excludeTools", toList(options.excludeTools));
  return { name, entry: { ...entry, ...Object.fromEntries(added) } };
}

/**
 * Throws if the entry is invalid on every machine. Other problems, such as a missing program, are reported later.
 * @throws HostError `settings_invalid`
 */
export function refuseInvalidEntry({ name, entry }: NewServer, scope: Scope, sandbox?: unknown): void {
  const options =
    sandbox === undefined || sandbox === "default" ? {} : { fairlead: { servers: { [name]: { sandbox } } } };
  const { root } = parseJsonc(JSON.stringify({ mcpServers: { [name]: entry }, ...options }));
  const node = childNode(root, "mcpServers", name);
  if (root === undefined || node === undefined)
    throw new HostError("settings_invalid", `the entry of "${name}" is nested too deeply`);
  const mistakes = validate(root, scope)
    .filter(({ severity }) => severity === "error")
    .map(({ message }) => message);
  readTransport(node, (severity, _node, message) => {
    if (severity === "error") mistakes.push(message);
  });
  if (mistakes.length > 0)
    throw new HostError("settings_invalid", `"${name}" was not added: ${mistakes.join("; ")}`, {
      next: "fairlead settings schema",
    });
}

function merged(before: unknown, pairs: readonly (readonly [string, string])[]): Entry {
  const old = Object.entries(objectOf(before));
  return Object.fromEntries([...old, ...pairs]);
}

/** Splits `NAME=VALUE` at the first `=`. For `NAME` alone, the server gets the user's own variable of that name. */
function toVariable(word: string): readonly [string, string] {
  const at = word.indexOf("=");
  const name = at < 0 ? word : word.slice(0, at);
  if (name === "") throw usage(`-e "${word}" has no name before the "="`);
  if (/\s/.test(name)) throw usage(`-e "${word}": the variable name "${name}" contains spaces`);
  return [name, at < 0 ? `\${${name}}` : word.slice(at + 1)];
}

function toHeader(word: string): readonly [string, string] {
  const at = word.indexOf(":");
  if (at <= 0) throw usage(`-H "${word}" is not of the form "Name: value"`);
  return [word.slice(0, at).trim(), word.slice(at + 1).trim()];
}

function toList(word: string): string[] {
  return word
    .split(/,(?![^(]*\))/)
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function usage(message: string): HostError {
  return new HostError("usage", message, { next: addHelp });
}

const addHelp = "fairlead mcp add --help";

const withValue = new Set(
  "-s --scope -t --transport -e --env -H --header --sandbox --timeout --description --include-tools --exclude-tools --cwd --registry --kind --name --input --sha256 --origin -C --settings".split(
    " ",
  ),
);
const switches = new Set(
  "--trust --unproven --replace --no-test --no-approve --json -q --quiet --no-workspace --trust-workspace --debug -h --help".split(
    " ",
  ),
);

/** Returns whether the word after the server's name is a URL, a JSON snippet or a command. */
function targetKind(word: string): "url" | "snippet" | "command" {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return "url";
  // Snippets are often copied without the braces around them: "github": { … }
  return /^\s*(\{|"[^"]+"\s*:\s*\{)/.test(word) ? "snippet" : "command";
}

/** Separates Fairlead's own words (`ours`) from the arguments of the server's command (`rest`). */
export function splitAddWords(words: readonly string[]): Words {
  const options: string[] = [];
  const operands: string[] = [];
  let dashes = false;
  let at = 0;
  while (at < words.length && operands.length < 2) {
    const word = words[at] ?? "";
    const size = !dashes && withValue.has(word) ? 2 : 1;
    if (word === "--" && !dashes) dashes = true;
    else if (dashes || !word.startsWith("-")) operands.push(word);
    else options.push(...words.slice(at, at + size));
    at += size;
  }
  // A URL or a snippet takes no arguments, so Fairlead's options may follow it.
  if (operands.some((operand) => targetKind(operand) !== "command")) return { ours: words, rest: [] };
  if (words[at] === "--" && !dashes) at += 1;
  return { ours: [...options, "--", ...operands], rest: words.slice(at) };
}

/** Returns the server's arguments that look like options of Fairlead: the user may have put them in the wrong place. */
export function lookalikes(rest: readonly string[]): string[] {
  const names = rest.map((word) => (word.startsWith("--") ? (word.split("=")[0] ?? "") : word));
  return [...new Set(names.filter((name) => withValue.has(name) || switches.has(name)))];
}
