/** Resolves the text after an `@` to a resource of one server, or to an error with suggestions. Pure. */

import { clip } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import type { ResourceRegistry } from "../../server/registries.ts";
import { toShellWord } from "../../text/shell-word.ts";
import { matchesTemplate } from "../../text/uri-template.ts";
import { nearResources } from "../describe-resources.ts";

/** Matches a URI scheme of at least two letters, because a single letter is a Windows drive. */
export const withScheme: RegExp = /^[A-Za-z][A-Za-z0-9+.-]+:/;

/** The servers and resources that a reference can name. */
export interface ResourceSource {
  /** The names of all servers, including those whose catalog is not read yet. */
  readonly servers: readonly string[];
  readonly resources: Pick<
    ResourceRegistry,
    "findByUri" | "getAllResources" | "getResourcesByServer" | "getAllTemplates" | "getTemplatesByServer"
  >;
}

/** Identifies a resource: its server and its URI. */
export interface ResourceAddress {
  readonly server: string;
  readonly uri: string;
}

/** The resource, or an error with suggestions. */
export type ResourceFinding =
  | ({ readonly kind: "resource" } & ResourceAddress)
  | { readonly kind: "unresolved"; readonly error: HostError }
  /** The text does not refer to any resource. */
  | { readonly kind: "other" };

/**
 * Finds the resource that a reference means. `x:uri` and `x.uri` mean a resource of the server `x`. `x://p` also means
 * a resource of `x` whose URI ends with `://p`. Without a server's name, the text must be a URI that exactly one server
 * has.
 */
export function findResource(target: string, source: ResourceSource): ResourceFinding {
  const wishes = toWishes(target, source.servers);
  for (const wish of wishes) {
    const found = onServer(wish, source);
    if (found) return found;
  }
  const found = withScheme.test(target) ? anywhere(target, source) : undefined;
  if (found) return found;
  if (wishes[0]) return unresolved(notOnServer(wishes[0], source));
  return target.includes("://") ? unresolved(nowhere(target, source)) : { kind: "other" };
}

/** One possible meaning of a reference: a server and a URI on that server. */
interface Wish {
  readonly server: string;
  readonly uri: string;
  /** The part of the URI after `://`, if the user left out the scheme. */
  readonly tail?: string;
}

/** Returns the possible meanings of the text. The meaning with the longest server name comes first. */
export function toWishes(target: string, servers: readonly string[]): readonly Wish[] {
  return servers
    .filter((server) => server !== "" && names(server, target))
    .sort((a, b) => b.length - a.length)
    .map((server) => {
      const rest = target.slice(server.length + 1);
      if (rest.startsWith("//")) return { server, uri: target, tail: rest.slice(2) };
      return { server, uri: rest, tail: rest.includes("://") ? undefined : rest };
    });
}

/** Whether the text begins with this server's name: `server:…`, or `server.` followed by a URI. */
function names(server: string, target: string): boolean {
  const rest = target.slice(server.length + 1);
  if (target.startsWith(`${server}:`)) return rest !== "";
  return target.startsWith(`${server}.`) && withScheme.test(rest);
}

function onServer({ server, uri: wanted, tail }: Wish, { resources }: ResourceSource): ResourceFinding | undefined {
  const address = (uri: string): ResourceAddress => ({ server, uri });
  const listed = resources.getResourcesByServer(server).map(({ uri }) => uri);
  if (listed.includes(wanted)) return onlyOne([address(wanted)], wanted);
  const sameTail = listed.filter((uri) => tail !== undefined && tailOf(uri) === tail);
  if (sameTail.length > 0) return onlyOne(sameTail.map(address), wanted);
  const templates = resources.getTemplatesByServer(server).map(({ uriTemplate }) => uriTemplate);
  if (templates.some((template) => matchesTemplate(wanted, template))) return fromTemplates([address(wanted)], wanted);
  const completed = templates.flatMap((template) => {
    const uri = `${schemeOf(template)}://${tail}`;
    return tail !== undefined && schemeOf(template) !== "" && matchesTemplate(uri, template) ? [uri] : [];
  });
  return fromTemplates([...new Set(completed)].map(address), wanted);
}

function anywhere(uri: string, { resources }: ResourceSource): ResourceFinding | undefined {
  const listed = resources.findByUri(uri);
  if (listed.length > 0)
    return onlyOne(
      listed.map(({ serverName: server }) => ({ server, uri })),
      uri,
    );
  // Leaves out templates that begin with a variable, because they would match any text.
  const templates = resources.getAllTemplates().filter(({ uriTemplate }) => withScheme.test(uriTemplate));
  const matching = templates.filter(({ uriTemplate }) => matchesTemplate(uri, uriTemplate));
  const servers = new Set(matching.map(({ serverName }) => serverName));
  return fromTemplates(
    [...servers].map((server) => ({ server, uri })),
    uri,
  );
}

/** The resource, if its URI is not listed but matches a template. Returns an error if the URI could be harmful. */
function fromTemplates(found: readonly ResourceAddress[], wanted: string): ResourceFinding | undefined {
  const reason = found.map(({ uri }) => whyHarmful(uri)).find((why) => why !== undefined);
  if (reason === undefined) return onlyOne(found, wanted);
  return unresolved(new HostError("usage", `${quoted(wanted)} was not requested: it ${reason}`));
}

function onlyOne(found: readonly ResourceAddress[], wanted: string): ResourceFinding | undefined {
  const [only, second] = found;
  if (only === undefined) return undefined;
  if (second === undefined) return { kind: "resource", ...only };
  const ways = found.slice(0, 5).map(({ server, uri }) => writeReference(server, uri));
  const message = `${quoted(wanted)} is ambiguous, it matches ${found.length} resources: write ${ways.join(" or ")}`;
  return unresolved(new HostError("usage", message, { next: "fairlead resources" }));
}

function notOnServer({ server: serverName, uri }: Wish, { resources }: ResourceSource): HostError {
  const listed = resources.getResourcesByServer(serverName);
  const isUnknown = listed.length === 0 && resources.getTemplatesByServer(serverName).length === 0;
  const message = isUnknown
    ? `Fairlead knows no resources of "${serverName}"`
    : `"${serverName}" has no resource ${quoted(uri)}${suggest(nearResources(uri, listed))}`;
  return new HostError("usage", message, { serverName, next: `fairlead resources ${toShellWord(serverName)}` });
}

function nowhere(target: string, { resources }: ResourceSource): HostError {
  const near = nearResources(target, resources.getAllResources());
  return new HostError("usage", `no server has a resource ${quoted(target)}${suggest(near)}`, {
    next: "fairlead resources",
  });
}

function suggest(near: ReturnType<typeof nearResources>): string {
  if (near.length === 0) return "";
  return `; did you mean ${near.map(({ serverName, uri }) => writeReference(serverName, uri)).join(" or ")}?`;
}

function unresolved(error: HostError): ResourceFinding {
  return { kind: "unresolved", error };
}

function tailOf(uri: string): string | undefined {
  const at = uri.indexOf("://");
  return at === -1 ? undefined : uri.slice(at + "://".length);
}

function schemeOf(uriTemplate: string): string {
  return uriTemplate.slice(0, Math.max(0, uriTemplate.indexOf("://")));
}

function quoted(text: string): string {
  return `"${clip(text, 200)}"`;
}

/** Matches an overlong UTF-8 encoding of an ASCII character, such as `%c0%ae` for a dot. */
const overlong = /%c[01]/i;
const encodedByte = /%([0-9A-Fa-f]{2})/g;
const separators = /[/;?#&=]/;
/**
 * The number of checked forms of a URI: as it is, decoded once, and decoded twice. A server may decode it more than
 * once.
 */
const rounds = 3;

/**
 * Checks a URI that no server lists, before Fairlead requests it. It must not lead out of its template's path. Returns
 * the problem as the rest of a sentence that begins with "it"; undefined if there is none.
 */
export function whyHarmful(uri: string): string | undefined {
  let text = uri;
  for (let round = 0; round < rounds; round += 1) {
    const reason = whyHarmfulAsIs(text);
    if (reason !== undefined) return reason;
    text = text.replaceAll(encodedByte, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  }
  return undefined;
}

function whyHarmfulAsIs(text: string): string | undefined {
  if (hasControl(text)) return "contains a control character";
  if (overlong.test(text)) return "contains invalid UTF-8";
  if (text.includes("\\")) return "contains a backslash";
  if (text.includes(":////")) return "names another machine";
  return text.split(separators).includes("..") ? 'contains ".."' : undefined;
}

function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at += 1)
    if (text.charCodeAt(at) < 0x20 || text.charCodeAt(at) === 0x7f) return true;
  return false;
}

/** Matches a target that needs no quotes. */
const plain = /^[\w./~%-](?:[\w./~%:?=&#+@!$*-]*[\w/=&#%~+-])?$/;

/** Writes an `@` reference to a resource. `findResource` finds the resource again from this text. */
export function writeReference(server: string, uri: string): string {
  return writeMention(uri.startsWith(`${server}://`) ? uri : `${server}:${uri}`);
}

/** Writes a reference to any target, with quotes if needed. */
export function writeMention(target: string): string {
  return plain.test(target) ? `@${target}` : `@"${target.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

type Resources = ResourceSource["resources"];

/** Returns the resources and templates of these servers only. */
export function chosenResources(servers: readonly string[], all: Resources): Resources {
  const isChosen = ({ serverName }: { readonly serverName: string }): boolean => servers.includes(serverName);
  return {
    findByUri: (uri) => all.findByUri(uri).filter(isChosen),
    getAllResources: () => all.getAllResources().filter(isChosen),
    getResourcesByServer: (server) => all.getResourcesByServer(server).filter(isChosen),
    getAllTemplates: () => all.getAllTemplates().filter(isChosen),
    getTemplatesByServer: (server) => all.getTemplatesByServer(server).filter(isChosen),
  };
}
