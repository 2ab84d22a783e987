/**
 * Reads `fairlead.servers.<name>.sandbox`: what a server may reach from its sandbox. Everything that is not listed is
 * closed, so a mistake never opens anything: it stops the server.
 */

import { isIP } from "node:net";
import { isAbsolute, normalize, resolve } from "node:path";
import type { Node } from "../../files/json/jsonc.ts";
import { isInside } from "../../files/real-path.ts";
import { childNode, itemNodes, stringNode, switchOf } from "../read/nodes.ts";
import type { SettingsSource } from "../read/source.ts";
import type { CheckedSource } from "../schema/checked.ts";
import type { Origin, SandboxSettings } from "./definition.ts";
import type { ReportProblem } from "./entry-transport.ts";
import type { PathBase } from "./expand.ts";

/** The value that decides about a server's sandbox, and the file that has it. Without a node, the server gets an empty profile. */
export interface SandboxChoice {
  readonly source: SettingsSource;
  readonly node: Node | undefined;
  /** `vscode`: the node is an entry with the keys `sandboxEnabled` and `sandbox` of VS Code. */
  readonly shape: "fairlead" | "vscode";
  /** Whether the settings name this server. False: the server has a sandbox because `fairlead.sandbox` is on. */
  readonly isNamed: boolean;
}

/** The entry of a server, as far as it decides about the sandbox. */
export interface SandboxedEntry {
  readonly name: string;
  readonly source: SettingsSource;
  readonly entry: Node | undefined;
  /** False if a workspace's entry replaces the entry that the user wrote the options for. */
  readonly privileged: boolean;
}

/**
 * Returns the value that counts. Undefined if the server runs without a sandbox.
 *
 * A workspace decides about its own servers, which need an approval with exactly this profile. For a server of the user
 * it can only say that the server gets a sandbox, which then allows nothing.
 */
export function sandboxFor(
  { name, source, entry, privileged }: SandboxedEntry,
  sources: readonly CheckedSource[],
): SandboxChoice | undefined {
  const said = sources.flatMap((from) => {
    const node = childNode(from.extras.get(name)?.value, "sandbox");
    return node === undefined ? [] : [{ source: from, node, shape: "fairlead" as const, isNamed: true }];
  });
  const own = said.findLast((choice) => choice.source.scope !== "workspace");
  const workspace = said.findLast((choice) => choice.source.scope === "workspace");
  const isDefault = defaultFor(sources);
  const nothing = { source, node: undefined, shape: "fairlead" as const, isNamed: false };

  if (own !== undefined) {
    if (privileged) return isOff(own.node) ? undefined : own;
    // The user wrote the profile for another program, so the workspace's program gets none of it.
    return isOff(own.node) && !isDefault ? undefined : { ...own, node: undefined };
  }
  if (workspace !== undefined) {
    const isItsOwn = source.scope === "workspace";
    if (isOff(workspace.node)) return isDefault ? nothing : undefined;
    return isItsOwn ? workspace : { ...workspace, node: undefined };
  }
  const inEntry = switchOf(childNode(entry, "sandboxEnabled"));
  if (inEntry === true) return { source, node: entry, shape: "vscode", isNamed: true };
  if (inEntry === false && source.scope !== "workspace") return undefined;
  return isDefault ? nothing : undefined;
}

/** Whether the settings say about this server that it runs in a sandbox, or that it does not. */
export function saysSandbox(
  { name, entry }: Pick<SandboxedEntry, "name" | "entry">,
  sources: readonly CheckedSource[],
): boolean {
  const isSaid = sources.some(({ extras }) => childNode(extras.get(name)?.value, "sandbox") !== undefined);
  return isSaid || childNode(entry, "sandboxEnabled") !== undefined;
}

/** Whether servers get a sandbox if the settings do not name them. A workspace can only turn this on. */
function defaultFor(sources: readonly CheckedSource[]): boolean {
  const words = sources.map((source) => ({
    scope: source.scope,
    word: stringNode(source.read("fairlead", "sandbox")),
  }));
  const own = words.findLast(({ scope, word }) => scope !== "workspace" && word !== undefined);
  return own?.word === "on" || words.some(({ scope, word }) => scope === "workspace" && word === "on");
}

function isOff(node: Node): boolean {
  return stringNode(node) === "off";
}

/** Reads the profile. Reports mistakes as errors, which stop the server. */
export function readSandbox(
  { node, source, shape, isNamed }: SandboxChoice,
  base: PathBase,
  report: ReportProblem,
): SandboxSettings {
  const origin: Origin | undefined = node && source.originOf(node);
  const list = (key: string, ...vscode: readonly string[]) =>
    shape === "fairlead"
      ? childNode(node, key)
      : vscode.length === 0
        ? undefined
        : childNode(node, "sandbox", ...vscode);
  const paths = (key: string, ...vscode: readonly string[]): readonly string[] =>
    each(list(key, ...vscode), (text, item) => {
      const path = pathOf(text, base, shape);
      if (path === undefined) report("error", item, `"${key}" of "sandbox" has "${text}", which is not a path`);
      else if (path === "/")
        report(
          "error",
          item,
          `"${key}" of "sandbox" has "/": a sandbox that allows everything protects nothing`,
          'Write "off".',
        );
      return path;
    });
  const addresses = (key: string, defaultPort: number | undefined, ...vscode: readonly string[]): readonly string[] =>
    each(list(key, ...vscode), (text, item) => {
      const address = hostAndPort(text, defaultPort);
      if (address === undefined)
        report("error", item, `"${key}" of "sandbox" has "${text}", which is not ${wanted(defaultPort)}`);
      return address;
    });
  const env = each(list("env"), (text, item) => {
    if (/^[A-Za-z_]\w*$/.test(text)) return text;
    report("error", item, `"env" of "sandbox" has "${text}", which is not the name of a variable`);
    return undefined;
  });
  const write = paths("write", "filesystem", "allowWrite");
  const hosts = addresses("hosts", 443, "network", "allowedDomains");
  if (shape === "vscode") {
    const profile = childNode(node, "sandbox");
    for (const key of ["denyRead", "denyWrite"])
      reportDenied(childNode(profile, "filesystem", key), write, "allowWrite", report, (text) => {
        const denied = pathOf(text, base, shape);
        return (path) =>
          denied === undefined || /[*?[\]{}]/.test(denied) || isInside(denied, path) || isInside(path, denied);
      });
    reportDenied(childNode(profile, "network", "deniedDomains"), hosts, "allowedDomains", report, deniesHost);
  }
  return { read: paths("read"), write, hosts, tcp: addresses("tcp", undefined), env, isNamed, origin };
}

/**
 * Reports what VS Code's profile denies in something that it allows. A sandbox of Fairlead closes what is not listed, and
 * has no exceptions in what is listed.
 */
function reportDenied(
  node: Node | undefined,
  allowed: readonly string[],
  key: string,
  report: ReportProblem,
  denies: (text: string) => (allowed: string) => boolean,
): void {
  for (const item of itemNodes(node)) {
    const text = stringNode(item) ?? "";
    const open = allowed.find(denies(text));
    if (open !== undefined)
      report(
        "error",
        item,
        `"sandbox" denies "${text}" in ${open} of "${key}", and Fairlead makes no such exception`,
        `List in "${key}" only what the program may use.`,
      );
  }
}

/** Whether a name of `deniedDomains` and an allowed `name:port` have a host in common. */
function deniesHost(text: string): (allowed: string) => boolean {
  const denied = nameOf(hostAndPort(text, 443));
  return (allowed) => {
    const name = nameOf(allowed);
    if (denied === undefined || name === undefined) return true;
    const covers = (wide: string, narrow: string) => wide.startsWith("*.") && narrow.endsWith(wide.slice(1));
    return denied === name || covers(denied, name) || covers(name, denied);
  };
}

function nameOf(address: string | undefined): string | undefined {
  return address?.replace(/:\d+$/, "");
}

function each(node: Node | undefined, read: (text: string, item: Node) => string | undefined): readonly string[] {
  const values = itemNodes(node).flatMap((item) => {
    const text = stringNode(item);
    return (text === undefined ? undefined : read(text, item)) ?? [];
  });
  return [...new Set(values)];
}

function wanted(defaultPort: number | undefined): string {
  return defaultPort === undefined ? "NAME:PORT" : "NAME, NAME:PORT or *.NAME";
}

function pathOf(text: string, base: PathBase, shape: SandboxChoice["shape"]): string | undefined {
  if (text.trim() === "" || /[\0\r\n]/.test(text)) return undefined;
  const filled =
    shape === "vscode" ? text.replaceAll("${workspaceFolder}", base.folder).replaceAll("${userHome}", base.home) : text;
  if (shape === "vscode" && filled.includes("${")) return undefined;
  const path = /^~(?:$|\/)/.test(filled) ? base.home + filled.slice(1) : resolve(base.folder, filled);
  return isAbsolute(path) ? withoutSlash(normalize(path)) : undefined;
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/**
 * Returns `name:port` in lower case. The name may be an IP address (`[::1]:80`) or begin with `*.`. Undefined if the text is
 * neither.
 */
export function hostAndPort(text: string, defaultPort: number | undefined): string | undefined {
  const [, bracketed, plain = "", port] = /^(?:\[([0-9a-f:.%]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i.exec(text.trim()) ?? [];
  const name = (bracketed ?? plain).toLowerCase().replace(/\.$/, "");
  const number = port === undefined ? defaultPort : Number(port);
  if (number === undefined || number < 1 || number > 65_535) return undefined;
  if (bracketed !== undefined) return isIP(name) === 6 ? `[${name}]:${number}` : undefined;
  const isName = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/.test(name);
  // A last label of digits alone is an IPv4 address, in one of its many spellings. Only the usual one is accepted.
  const isNumeric = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name);
  if (!isName || name.length > 253 || (isNumeric && isIP(name) !== 4)) return undefined;
  return `${name}:${number}`;
}
