/** Completes `fairlead read`: URIs, templates and template variables from cached catalogs. */

import type { HostResource } from "@fairlead/core/host";
import { variablesOf } from "../arguments/template-values.ts";
import type { Suggestion } from "./answer.ts";
import type { CachedServers } from "./cached-servers.ts";
import type { Typed } from "./typed-words.ts";

/** Suggests a URI, `server:uri` if two servers have the URI, or `@server:uri` if the user typed "@". */
export async function suggestResources(
  typed: Typed,
  current: string,
  known: CachedServers,
): Promise<readonly Suggestion[]> {
  const resources = await resourcesOf(typed, known);
  const count = (uri: string): number => resources.filter((resource) => uriOf(resource) === uri).length;
  return resources.map((resource) => {
    const { server, name, title } = resource;
    const uri = uriOf(resource);
    const full = `${server}:${uri}`;
    const isBare = count(uri) === 1 && (uri.startsWith(current) || !full.startsWith(current));
    return { value: current.startsWith("@") ? `@${full}` : isBare ? uri : full, about: title ?? name };
  });
}

export async function suggestVariables(typed: Typed, known: CachedServers): Promise<readonly Suggestion[]> {
  const wanted = typed.operands[0]?.replace(/^@/, "");
  const resources = await resourcesOf(typed, known);
  const found = resources.find((one) => wanted === uriOf(one) || wanted === `${one.server}:${uriOf(one)}`);
  if (found?.kind !== "template") return [];
  return variablesOf(found.uriTemplate).map(({ name, required }) => ({
    value: `${name}=`,
    about: required ? "required" : "",
    isOpen: true,
  }));
}

async function resourcesOf(
  { values }: Typed,
  { host, names, recall }: CachedServers,
): Promise<readonly HostResource[]> {
  const server = values.get("--server");
  const asked = server === undefined ? names : names.filter((name) => name === server);
  await recall(asked);
  return asked.flatMap((name) => host.resources(name));
}

function uriOf(resource: HostResource): string {
  return resource.kind === "resource" ? resource.uri : resource.uriTemplate;
}
