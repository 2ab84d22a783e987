/** Derives a server name from a typed URL or command: its host, package or file. Pure. */

import { listOf } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import type { Entry } from "../commands/mcp/add/new-entry.ts";
import { findDownload } from "../output/servers/server-notes.ts";

const fallback = "server";
const longest = 60;

export function adHocName(entry: Entry): string {
  const { command, args, url } = entry;
  if (typeof url === "string") return tidy(parseUrl(url)?.host ?? "");
  const program = String(command);
  const rest = listOf(args).map(String);
  const download = findDownload(program, rest)?.name;
  return tidy(download === undefined ? fileName(program, rest) : packageName(download));
}

/** `@scope/server-files@1.2.0` is `server-files`, `ghcr.io/org/server:latest` is `server`. */
function packageName(name: string): string {
  const last = name.slice(name.lastIndexOf("/") + 1);
  return /^[^@:=[<>~]+/.exec(last)?.[0] ?? last;
}

/** The script's name, not its interpreter's. */
function fileName(program: string, args: readonly string[]): string {
  const isInterpreter = /^(?:node|bun|deno|tsx|python[\d.]*|ruby|perl|php|java)$/.test(baseName(program));
  const script = isInterpreter ? args.find((word) => !word.startsWith("-") && word !== "run") : undefined;
  const path = script ?? program;
  const name = baseName(path);
  return /^(?:index|main|__main__)$/.test(name) ? (folderName(path) ?? name) : name;
}

/** Returns `memory` for `memory/dist/index.js`. */
function folderName(path: string): string | undefined {
  const folders = path.split(/[/\\]/).slice(0, -1);
  return folders.findLast((folder) => !/^(?:|\.{1,2}|dist|build|out|src|lib|bin)$/.test(folder));
}

function baseName(path: string): string {
  const [last = ""] = path.split(/[/\\]/).slice(-1);
  return last.replace(/\.(?:[cm]?[jt]s|py|rb|pl|php|jar|exe|cmd|bat|sh)$/i, "");
}

/** Replaces characters that a shell would need quotes for. */
function tidy(name: string): string {
  const plain = name.replaceAll(/[^\w.-]+/g, "-").replaceAll(/^[-.]+|[-.]+$/g, "");
  return plain === "" ? fallback : plain.slice(0, longest);
}
