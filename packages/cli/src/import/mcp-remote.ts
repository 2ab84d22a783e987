/**
 * Converts `npx mcp-remote URL …` to the URL. The program mcp-remote only connects to that URL, which Fairlead can do
 * itself.
 */

import type { EntryDraft, FieldReader, TransportKind } from "./field-reader.ts";
import { foreignFields } from "./foreign-file.ts";
import { isVariableName } from "./references.ts";

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
export function convertMcpRemote(reader: FieldReader, draft: EntryDraft): boolean {
  const command = reader.peek("command");
  const args = reader.peek("args");
  if (typeof command !== "string" || !Array.isArray(args) || !runners.test(command) || reader.has("envFile"))
    return false;
  const words = [...(packageName.test(programOf(command)) ? ["mcp-remote"] : []), ...args.map(String)];
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

function programOf(command: string): string {
  return command.split(/[/\\]/).at(-1) ?? "";
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
