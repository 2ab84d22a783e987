/** From what stands behind an `@` to a resource of one server; or why there is none, and what may have been meant. Pure. */

import { clip } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import type { ResourceRegistry } from "../../registry/resource-registry.ts";
import { toShellWord } from "../../text/shell-word.ts";
import { nearResources } from "../near-resources.ts";
import { matchesTemplate } from "../templates/match-template.ts";
import { whyHarmful } from "./harmless-uri.ts";
import { writeReference } from "./write-reference.ts";

/** One letter is a drive of Windows. */
export const withScheme: RegExp = /^[A-Za-z][A-Za-z0-9+.-]+:/;

export interface ResourceSource {
  /** Of all servers, also of those that have not said yet what they offer. */
  readonly servers: readonly string[];
  readonly resources: Pick<
    ResourceRegistry,
    "findByUri" | "getAllResources" | "getResourcesByServer" | "getAllTemplates" | "getTemplatesByServer"
  >;
}

export interface ResourceAddress {
  readonly server: string;
  readonly uri: string;
}

export type ResourceFinding =
  | ({ readonly kind: "resource" } & ResourceAddress)
  | { readonly kind: "unresolved"; readonly error: HostError }
  /** Nothing in it speaks of a resource. */
  | { readonly kind: "other" };

/**
 * `x://p`: that URI on the server x, else x's only resource with p behind `://`. `x:uri`: that resource of x. Else a URI that
 * exactly one server has. What a server lists comes before what its templates would give.
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

/** A name of a server, and what is wanted of it. */
interface Wish {
  readonly server: string;
  readonly uri: string;
  /** What may stand behind the `://` of a URI that is not written in full. */
  readonly tail?: string;
}

/** The longest name first. */
export function toWishes(target: string, servers: readonly string[]): readonly Wish[] {
  return servers
    .filter((server) => server !== "" && target.startsWith(`${server}:`) && target.length > server.length + 1)
    .sort((a, b) => b.length - a.length)
    .map((server) => {
      const rest = target.slice(server.length + 1);
      if (rest.startsWith("//")) return { server, uri: target, tail: rest.slice(2) };
      return { server, uri: rest, ...(!rest.includes("://") && { tail: rest }) };
    });
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
  // A template that begins with a variable would claim whatever is typed.
  const templates = resources.getAllTemplates().filter(({ uriTemplate }) => withScheme.test(uriTemplate));
  const matching = templates.filter(({ uriTemplate }) => matchesTemplate(uri, uriTemplate));
  const servers = new Set(matching.map(({ serverName }) => serverName));
  return fromTemplates(
    [...servers].map((server) => ({ server, uri })),
    uri,
  );
}

/** The server never listed it: it is asked only for what cannot lead anywhere else. */
function fromTemplates(found: readonly ResourceAddress[], wanted: string): ResourceFinding | undefined {
  const reason = found.map(({ uri }) => whyHarmful(uri)).find((why) => why !== undefined);
  if (reason === undefined) return onlyOne(found, wanted);
  return unresolved(new HostError("usage", `${quoted(wanted)} is not asked for: it ${reason}`));
}

function onlyOne(found: readonly ResourceAddress[], wanted: string): ResourceFinding | undefined {
  const [only, second] = found;
  if (only === undefined) return undefined;
  if (second === undefined) return { kind: "resource", ...only };
  const ways = found.slice(0, 5).map(({ server, uri }) => writeReference(server, uri));
  const message = `${quoted(wanted)} could be any of ${found.length} resources; write ${ways.join(" or ")}`;
  return unresolved(new HostError("usage", message, { next: "fairlead resources" }));
}

function notOnServer({ server: serverName, uri }: Wish, { resources }: ResourceSource): HostError {
  const listed = resources.getResourcesByServer(serverName);
  const isUnknown = listed.length === 0 && resources.getTemplatesByServer(serverName).length === 0;
  const message = isUnknown
    ? `no resources of "${serverName}" are known`
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
