/**
 * Lists the resources that a model can read, one on each line. If there are too many, lists only some from each server.
 * Pure.
 */

import { clip } from "@fairlead/wire/text";
import { toLabel } from "../normalise/content/shorten.ts";
import { asUntrusted, createNonce } from "../normalise/content/untrusted.ts";
import type { Part } from "../normalise/model-types.ts";
import type { DiscoveredMCPResource, ResourceRegistry } from "../server/registries.ts";
import { closest } from "../text/closest.ts";
import { toModelText } from "../text/model-text.ts";
import { sizeWords } from "../text/size-words.ts";
import { parseTemplate } from "../text/uri-template.ts";

/** The resources to list, and the size limits of the list. */
export interface DescribeResourcesOptions {
  /** The servers whose resources are listed, in this order. */
  readonly servers: readonly string[];
  readonly resources: Pick<ResourceRegistry, "getResourcesByServer" | "getTemplatesByServer">;
  readonly limits?: Partial<DescriptionLimits>;
  readonly nonce?: string;
}

/** The maximum number of listed resources, and the maximum characters of the list. */
export interface DescriptionLimits {
  /**
   * Maximum number of listed resources and templates, divided equally among the servers. Each server gets at least 1.
   */
  readonly entries: number;
  readonly characters: number;
}

const defaultLimits: DescriptionLimits = { entries: 200, characters: 20_000 };
const longestUri = 1000;
const longestName = 120;

interface Entry {
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly size?: unknown;
}

/** Returns the list. Empty if there are no resources. */
export function describeResources({
  servers,
  resources,
  limits,
  nonce = createNonce(),
}: DescribeResourcesOptions): Part[] {
  const { entries, characters } = { ...defaultLimits, ...limits };
  const serverLists = servers
    .map((server) => ({ server, lines: linesOf(server, resources) }))
    .filter(({ lines }) => lines.length > 0);
  if (serverLists.length === 0) return [];
  const share = { entries: entries / serverLists.length, characters: characters / serverLists.length };
  const text = serverLists.map(({ server, lines }) => section(server, lines, share)).join("\n");
  return asUntrusted([{ text }], nonce, "a list of resources, written by MCP servers");
}

function linesOf(server: string, resources: DescribeResourcesOptions["resources"]): readonly string[] {
  const templates = resources
    .getTemplatesByServer(server)
    .filter(({ uriTemplate }) => parseTemplate(uriTemplate).kind === "template")
    .map(({ uriTemplate, ...rest }) => ({ ...rest, uri: uriTemplate }));
  return [...resources.getResourcesByServer(server), ...templates].filter(isUsable).map(toLine);
}

/**
 * Whether the list can show the resource's URI completely and unchanged. Otherwise a model could not repeat the URI
 * exactly.
 */
function isUsable({ uri }: Entry): boolean {
  return uri.length <= longestUri && toModelText(uri) === uri && !/\s/.test(uri);
}

function toLine({ uri, name, mimeType, size }: Entry): string {
  const facts = [
    name === uri ? "" : clip(toLabel(name), longestName),
    mimeType === undefined ? "" : clip(toLabel(mimeType), longestName),
    typeof size === "number" && size >= 0 && Number.isFinite(size) ? sizeWords(size) : "",
  ].filter((fact) => fact !== "");
  return `- ${uri}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

function section(server: string, lines: readonly string[], share: DescriptionLimits): string {
  const shown: string[] = [];
  let characters = 0;
  for (const line of lines) {
    characters += line.length + 1;
    if (shown.length + 1 > Math.max(1, share.entries) || characters > share.characters) break;
    shown.push(line);
  }
  const more = lines.length - shown.length;
  return [`On the server "${toLabel(server)}":`, ...shown, ...(more > 0 ? [`- and ${more} more`] : [])].join("\n");
}

/** Maximum number of resources whose URIs are compared. A server may list very many. */
const mostCompared = 2000;
const longestCompared = 300;
const mostShown = 3;
const shortestPart = 3;

/** Returns the resources whose URIs are most similar to the wanted URI. */
export function nearResources(
  wanted: string,
  resources: readonly DiscoveredMCPResource[],
): readonly DiscoveredMCPResource[] {
  const part = lastPart(wanted);
  const compared = resources.slice(0, mostCompared).filter(({ uri }) => uri.length <= longestCompared);
  const near = [
    nearest(wanted, compared, ({ uri }) => uri),
    nearest(part, compared, ({ uri }) => lastPart(uri)),
    ...(part.length < shortestPart
      ? []
      : compared.filter(({ uri, name }) => [uri, name].some((text) => text.toLowerCase().includes(part)))),
  ];
  return [...new Set(near.flatMap((resource) => resource ?? []))].slice(0, mostShown);
}

function nearest(
  wanted: string,
  resources: readonly DiscoveredMCPResource[],
  key: (resource: DiscoveredMCPResource) => string,
): DiscoveredMCPResource | undefined {
  const word = wanted.length > longestCompared ? undefined : closest(wanted, resources.map(key));
  return word === undefined ? undefined : resources.find((resource) => key(resource) === word);
}

function lastPart(uri: string): string {
  const parts = uri.toLowerCase().split(/[/:]/);
  return parts.findLast((part) => part !== "") ?? "";
}
