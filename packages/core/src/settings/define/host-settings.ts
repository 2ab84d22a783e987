/**
 * Merges `mcp.allowed`, `mcp.excluded` and `fairlead.*` from all settings files. A workspace's file can add
 * restrictions, but not remove them.
 */

import type { Node } from "../../files/json/jsonc.ts";
import {
  childNode,
  entriesOf,
  itemNodes,
  numberOf,
  plainValueOf,
  stringNode,
  switchOf,
  textListIn,
  textMapOf,
  textsOf,
} from "../read/nodes.ts";
import type { CheckedSource } from "../schema/checked.ts";
import { defaults } from "../schema/defaults.ts";
import type {
  ClientProfile,
  Gate,
  HostSettings,
  NameList,
  Origin,
  Problem,
  PublishedOrigin,
  ServerExtras,
} from "./definition.ts";

/** The merged settings that do not belong to a single server. */
export interface HostWide {
  readonly allowed?: NameList;
  readonly excluded: NameList;
  readonly host: HostSettings;
  readonly problems: readonly Problem[];
}

/** Merges the settings that apply to all servers. `sources` are the settings files, weakest first. */
export function hostWide(sources: readonly CheckedSource[]): HostWide {
  const problems: Problem[] = [];
  const own = sources.filter(({ scope }) => scope !== "workspace");
  const strongest = <T>(
    read: (node: Node | undefined) => T | undefined,
    path: readonly string[],
    from = own,
  ): T | undefined => from.map((source) => read(source.read(...path))).findLast((value) => value !== undefined);
  const bounded = (normal: number, ...path: readonly string[]): number => {
    const bound = strongest(numberOf, path) ?? normal;
    const workspace = sources.find(({ scope }) => scope === "workspace");
    const node = workspace?.read(...path);
    const wish = numberOf(node);
    if (workspace === undefined || node === undefined || wish === undefined) return bound;
    if (wish > bound) {
      const message = `"${path.at(-1)}" is ${wish}, but a workspace may only lower this value; Fairlead uses ${bound}`;
      problems.push({ severity: "warning", code: "settings_invalid", message, origin: workspace.originOf(node) });
    }
    return Math.min(wish, bound);
  };
  const limitOf = (...path: readonly string[]): number | undefined => {
    const limit = bounded(Number.POSITIVE_INFINITY, "fairlead", ...path);
    return Number.isFinite(limit) ? limit : undefined;
  };
  const start = strongest(stringNode, ["fairlead", "start"], [...sources]);
  const background = strongest(stringNode, ["fairlead", "background"]);
  return {
    allowed: allowedOf(sources),
    excluded: united(sources, "mcp", "excluded"),
    host: {
      start: start === "lazy" ? "lazy" : "background",
      background: background === "on" || background === "off" ? background : "auto",
      publicServerCards: strongest(switchOf, ["fairlead", "publicServerCards"]) ?? false,
      connectTimeout: bounded(defaults.connectTimeout, "fairlead", "connectTimeout"),
      limits: {
        callTotal: bounded(defaults.callTotal, "fairlead", "limits", "callTotal"),
        callsPerServer: bounded(defaults.callsPerServer, "fairlead", "limits", "callsPerServer"),
        callsTotal: bounded(defaults.callsTotal, "fairlead", "limits", "callsTotal"),
        catalogBytes: bounded(defaults.catalogBytes, "fairlead", "limits", "catalogBytes"),
      },
      permissions: {
        servers: permittedTools(sources),
        denyTools: [...united(sources, "fairlead", "permissions", "denyTools").names],
      },
      clientMetadataUrl: strongest(stringNode, ["fairlead", "clientMetadataUrl"]),
      toolBudget: {
        tokens: limitOf("toolBudget", "tokens") ?? limitOf("toolBudget"),
        tools: limitOf("toolBudget", "tools"),
      },
      contextTokens: limitOf("contextTokens"),
      resultTokens: bounded(defaults.resultTokens, "fairlead", "resultTokens"),
      resourceFunctions: [own, sources].every(
        (from) => strongest(switchOf, ["fairlead", "resourceFunctions"], [...from]) ?? true,
      ),
      googleHosts: own.flatMap((source) => textsOf(source.read("fairlead", "googleHosts"))),
      registries:
        own.map((source) => textsOf(source.read("fairlead", "registries"))).findLast((list) => list.length > 0) ?? [],
      recording: sources.every((source) => switchOf(source.read("fairlead", "recording")) !== false),
      audit: { arguments: strongest(switchOf, ["fairlead", "audit", "arguments"]) ?? false },
      telemetry: {
        arguments: strongest(switchOf, ["fairlead", "telemetry", "arguments"]) ?? false,
        results: strongest(switchOf, ["fairlead", "telemetry", "results"]) ?? false,
      },
      clients: clientProfiles(own),
      team: teamSection(sources),
    },
    problems,
  };
}

/** A user of the machine must not decide who may enter the gateway of a company. */
function teamSection(sources: readonly CheckedSource[]): unknown {
  const system = sources.filter(({ scope }) => scope === "system" || scope === "system-defaults");
  const node = system.map((source) => source.read("fairlead", "team")).findLast((value) => value !== undefined);
  return node && plainValueOf(node);
}

/** If several files have a profile for the same client, the profile in the strongest file applies. */
function clientProfiles(own: readonly CheckedSource[]): ReadonlyMap<string, ClientProfile> {
  const profiles = new Map<string, ClientProfile>();
  for (const source of own)
    for (const { name, value } of entriesOf(childNode(source.root, "fairlead", "clients")).values()) {
      const room = (...path: readonly string[]) =>
        numberOf(source.read("fairlead", "clients", name, "toolBudget", ...path));
      const [tokens, tools] = [room("tokens") ?? room(), room("tools")];
      profiles.set(name, {
        servers: textListIn(value, "servers"),
        tools: textListIn(value, "tools"),
        toolBudget: tokens === undefined && tools === undefined ? undefined : { tokens, tools },
        loadsSkills: switchOf(source.read("fairlead", "clients", name, "loadSkill")),
      });
    }
  return profiles;
}

/**
 * A server must be in `mcp.allowed` of every file that has this list. A value of the wrong type allows no server, so
 * that a mistake gives no access.
 */
function allowedOf(sources: readonly CheckedSource[]): NameList | undefined {
  const lists = sources.flatMap((source) => {
    const node = childNode(source.root, "mcp", "allowed");
    return node === undefined ? [] : [{ names: new Set(textsOf(node)), origin: source.originOf(node) }];
  });
  const [first, ...others] = lists;
  if (first === undefined) return undefined;
  const names = [...first.names].filter((name) => others.every((other) => other.names.has(name)));
  return { names: new Set(names), origins: lists.map(({ origin }) => origin) };
}

/**
 * Joins the lists at `path` in all settings files. A string instead of a list counts as one name, because ignoring it
 * would remove a restriction.
 */
function united(sources: readonly CheckedSource[], ...path: readonly string[]): NameList {
  const lists = sources.flatMap((source) => {
    const node = childNode(source.root, ...path);
    return node === undefined
      ? []
      : [{ names: [stringNode(node) ?? [], ...textsOf(node)].flat(), origin: source.originOf(node) }];
  });
  return { names: new Set(lists.flatMap(({ names }) => names)), origins: lists.map(({ origin }) => origin) };
}

/**
 * For each server, the tools that may be called. The strongest file outside the workspace decides. The workspace's list
 * can only remove tools.
 */
function permittedTools(sources: readonly CheckedSource[]): ReadonlyMap<string, readonly string[]> {
  const permitted = new Map<string, readonly string[]>();
  const workspaceLast = [...sources].sort((a, b) => Number(a.scope === "workspace") - Number(b.scope === "workspace"));
  for (const source of workspaceLast) {
    for (const { name, value } of entriesOf(childNode(source.root, "fairlead", "permissions", "servers")).values()) {
      const own = source.scope === "workspace" ? permitted.get(name) : undefined;
      const bound = own && new Set(own);
      permitted.set(
        name,
        textsOf(value).filter((tool) => bound?.has(tool) ?? true),
      );
    }
  }
  return permitted;
}

/**
 * Restrictions in `mcp.excluded` and `fairlead.permissions`, each with its file and line. `sources` are the settings
 * files, weakest first.
 */
export function gatesOf(sources: readonly CheckedSource[]): readonly Gate[] {
  return [
    ...listed(sources, "mcp", "excluded").map(({ text, ...where }) => ({ ...where, server: text })),
    ...listed(sources, "fairlead", "permissions", "denyTools").map(({ text, ...where }) => ({
      ...where,
      tools: { only: text },
    })),
    ...permissions(sources),
  ];
}

/**
 * Reads a list of denied names. A string instead of a list counts as one name, because ignoring it would remove a
 * restriction.
 */
function listed(
  sources: readonly CheckedSource[],
  ...path: readonly string[]
): readonly { readonly setting: string; readonly origin: Origin; readonly text: string }[] {
  return sources.flatMap((source) => {
    const node = childNode(source.root, ...path);
    return [node ?? [], itemNodes(node)].flat().flatMap((item) => {
      const text = stringNode(item);
      return text === undefined ? [] : [{ setting: path.join("."), origin: source.originOf(item), text }];
    });
  });
}

/**
 * Restrictions in `fairlead.permissions.servers`. The strongest file outside the workspace decides. The workspace's
 * list can only add restrictions.
 */
function permissions(sources: readonly CheckedSource[]): readonly Gate[] {
  const own = new Map<string, Gate>();
  const workspace: Gate[] = [];
  for (const source of sources) {
    for (const { name, key, value } of entriesOf(
      childNode(source.root, "fairlead", "permissions", "servers"),
    ).values()) {
      const gate: Gate = {
        setting: `fairlead.permissions.servers.${name}`,
        origin: source.originOf(key),
        server: name,
        tools: { allBut: textsOf(value) },
      };
      if (source.scope === "workspace") workspace.push(gate);
      else own.set(name, gate);
    }
  }
  return [...own.values(), ...workspace];
}

/** Keys of `fairlead.servers.<name>` that give a server more rights. */
export const privileges = [
  "trustAnnotations",
  "sampling",
  "roots",
  "baggage",
  "machineAuth",
  "issuerOverride",
] as const;

/**
 * Merges `fairlead.servers.<name>` from all settings files. `privileged` is false if a workspace's entry replaces the
 * entry that the user gave rights to.
 */
export function extrasFor(
  name: string,
  sources: readonly CheckedSource[],
  start: ServerExtras["start"],
  privileged: boolean,
): ServerExtras {
  const said = (key: string, from = sources) => from.map(({ extras }) => childNode(extras.get(name)?.value, key));
  const isOn = (key: string, from = sources): boolean =>
    said(key, from)
      .map(switchOf)
      .findLast((value) => value !== undefined) ?? false;
  const own = sources.filter(({ scope }) => scope !== "workspace");
  const workspace = sources.filter(({ scope }) => scope === "workspace");
  const granting = privileged ? own : [];
  const starts = said("start").map(stringNode);
  const shares = said("share", granting).map(stringNode);
  return {
    start: starts.findLast((word) => word === "background" || word === "lazy") ?? start,
    trustAnnotations: isOn("trustAnnotations", granting),
    sampling: isOn("sampling", granting),
    roots: isOn("roots", granting),
    baggage: isOn("baggage", granting) ? true : undefined,
    alwaysLoad: isOn("alwaysLoad"),
    share: shares.findLast((word) => word === "auto" || word === "all" || word === "client") ?? "auto",
    // One settings file with `hideResults` is enough to hide the results.
    hideResults: said("hideResults").some((node) => switchOf(node) === true) ? true : undefined,
    views: viewsOf(said("views", own).map(stringNode), said("views", workspace).map(stringNode), privileged),
    issuerOverride: said("issuerOverride", granting)
      .map(stringNode)
      .findLast((issuer) => issuer !== undefined),
  };
}

const viewWords: readonly unknown[] = ["off", "ask", "on"];

/** The user's word counts, but for a replaced entry not to show views without asking. A workspace may only restrict it. */
function viewsOf(own: readonly unknown[], workspace: readonly unknown[], privileged: boolean): ServerExtras["views"] {
  const said = own.findLast((word) => viewWords.includes(word)) ?? "ask";
  const words = [...(privileged ? [] : ["ask"]), said, ...workspace.filter((word) => viewWords.includes(word))];
  if (words.includes("off")) return "off";
  return words.includes("ask") ? undefined : "on";
}

/** The `machineAuth` in the strongest settings file that contains it. Ignores the workspace's file. */
export function machineAuthFor(
  name: string,
  sources: readonly CheckedSource[],
  privileged: boolean,
): { readonly source: CheckedSource; readonly node: Node } | undefined {
  const granting = privileged ? sources.filter(({ scope }) => scope !== "workspace") : [];
  return granting
    .flatMap((source) => {
      const node = childNode(source.extras.get(name)?.value, "machineAuth");
      return node === undefined ? [] : [{ source, node }];
    })
    .at(-1);
}

/** `fairlead.servers.NAME.origin` of the file that has the server's entry. Undefined if it is absent or incomplete. */
export function publishedOriginOf(name: string, source: CheckedSource): PublishedOrigin | undefined {
  const node = childNode(source.extras.get(name)?.value, "origin");
  const text = (key: string): string | undefined => stringNode(childNode(node, key));
  const [published, version, kind] = [text("name"), text("version"), text("kind")];
  if (published === undefined || version === undefined || kind === undefined) return undefined;
  return {
    registry: text("registry"),
    name: published,
    version,
    kind,
    package: text("package"),
    sha256: text("sha256"),
    proof: text("proof"),
    inputs: Object.fromEntries(textMapOf(childNode(node, "inputs"))),
  };
}

/** The strongest settings file that disables the server. One file is enough to disable a server. */
export function disabledBy(name: string, sources: readonly CheckedSource[]): Origin | undefined {
  const origins = sources.flatMap((source) => {
    const node = childNode(source.extras.get(name)?.value, "enabled");
    return node !== undefined && switchOf(node) === false ? [source.originOf(node)] : [];
  });
  return origins.at(-1);
}
