/** Finds the server and URI that `@server://path`, `server:uri`, a bare URI, or a template with values means. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { nearResources } from "@fairlead/core/resources/describe-resources";
import {
  findResource,
  type ResourceAddress,
  toWishes,
  writeReference,
} from "@fairlead/core/resources/references/resource-reference";
import { closest } from "@fairlead/core/text/closest";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { NamedValue } from "../arguments/named-values.ts";
import { fillTemplate, variablesOf } from "../arguments/template-values.ts";
import { usageError } from "../shell/usage-error.ts";
import type { Context } from "../shell/verb.ts";
import { lookUp, namesOf } from "./look-up.ts";

interface Wanted {
  /** The typed resource. */
  readonly word: string;
  /** The value of `--server`; then `word` is a URI or template of that server, listed or not. */
  readonly server: string | undefined;
  readonly values: readonly NamedValue[];
}

export async function findReadable(wanted: Wanted, host: Host, context: Context): Promise<ResourceAddress> {
  const { server, values } = wanted;
  const target = wanted.word.replace(/^@/, "");
  const isTemplate = variablesOf(target).length > 0;
  if (values.length > 0 && !isTemplate)
    throw usageError(`--arg works only with a template, and "${target}" has no variables`, context);
  if (server !== undefined) return { server, uri: isTemplate ? fillTemplate(target, values) : target };
  const named = toWishes(target, namesOf(host)).map((wish) => wish.server);
  // `x://p` may be a URI of any server, not only of x.
  const isOpen = named.every((name) => target.startsWith(`${name}://`));
  const find = isTemplate ? () => findTemplate(target, host) : () => findListed(target, host);
  const found = await lookUp({ named, isOpen, find }, host, context);
  return { ...found, uri: isTemplate ? fillTemplate(found.uri, values) : found.uri };
}

function findListed(target: string, host: Host): ResourceAddress | HostError {
  const { resourceRegistry: resources } = host;
  const found = findResource(target, { servers: namesOf(host), resources });
  switch (found.kind) {
    case "resource":
      return { server: found.server, uri: found.uri };
    case "unresolved":
      return found.error;
    case "other": {
      const near = nearResources(target, resources.getAllResources());
      const ways = near.map(({ serverName, uri }) => writeReference(serverName, uri));
      const suggestion = ways.length === 0 ? "" : `; did you mean ${ways.join(" or ")}?`;
      return new HostError("usage", `"${target}" is not the URI of a resource${suggestion}`, {
        next: "fairlead resources",
      });
    }
  }
}

/** Returns the template itself as `uri`; the caller expands it. */
function findTemplate(target: string, { resourceRegistry }: Host): ResourceAddress | HostError {
  const templates = resourceRegistry.getAllTemplates();
  const found = templates.filter(
    ({ serverName, uriTemplate }) => uriTemplate === target || `${serverName}:${uriTemplate}` === target,
  );
  const [only, second] = found;
  if (only === undefined) {
    const near = closest(
      target,
      templates.map(({ uriTemplate }) => uriTemplate),
    );
    const suggestion = near === undefined ? "" : `; did you mean ${toShellWord(near)}?`;
    return new HostError("usage", `no server has the template "${target}"${suggestion}`, {
      next: "fairlead resources",
    });
  }
  if (second === undefined) return { server: only.serverName, uri: only.uriTemplate };
  const ways = found.map(({ serverName }) => `--server ${toShellWord(serverName)}`);
  throw new HostError(
    "usage",
    `"${target}" is ambiguous: more than one server has this template; add ${ways.join(" or ")}`,
  );
}
