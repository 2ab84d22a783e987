/** Resources and prompts that the user or a model reads, and `@` references in a message. */

import type { JsonObject, PromptResult, ResourceResult } from "@fairlead/wire";
import { normaliseResourceResult } from "@fairlead/wire/results";
import type { Host, RequestOptions } from "../host/types.ts";
import type { Keep } from "../normalise/content/parts.ts";
import type { CallWatch } from "../server/registered-tool.ts";
import type { ResourceRegistry } from "../server/registries.ts";
import { confirmTyped } from "./calls.ts";
import { type Request, shownRead } from "./request.ts";
import { type RequestHost, readyWithin, runRequest } from "./run.ts";
import { readSkillForUser, skillAt, toResource } from "./skills.ts";

/** Reads a resource for the user or a program. */
export function readForUser(
  serverName: string,
  uri: string,
  options: RequestOptions,
  host: RequestHost,
): Promise<ResourceResult> {
  return runRequest({ ...typed(options), ...resource(serverName, uri, options) }, host);
}

/** Reads a resource for a model. */
export function readForModel(
  serverName: string,
  uri: string,
  { onAllowed, ...asker }: Pick<Request, "signal" | "confirm" | "actingOn"> & Pick<CallWatch, "onAllowed">,
  host: RequestHost,
): Promise<ResourceResult> {
  return runRequest({ who: "model", ...asker, watch: { onAllowed }, ...resource(serverName, uri, {}) }, host);
}

/** Gets a prompt for the user or a program. */
export function getPromptForUser(
  serverName: string,
  prompt: string,
  args: Readonly<Record<string, string>>,
  options: RequestOptions,
  host: RequestHost,
): Promise<PromptResult> {
  return runRequest(
    {
      ...typed(options),
      kind: "prompt",
      serverName,
      serverToolName: prompt,
      args: args as JsonObject,
      shown: { serverName, serverToolName: prompt, name: prompt, description: "" },
      target: {
        kind: "read",
        timeout: options.timeout,
        wait: options.wait,
        send: (client, times) => client.getPrompt(prompt, args, times),
      },
    },
    host,
  );
}

function typed({
  signal,
  confirm,
  confirmed,
}: RequestOptions): Pick<Request, "who" | "signal" | "confirm" | "confirmed"> {
  return { who: "user", signal, confirmed, confirm: confirm && confirmTyped(confirm) };
}

type ResourceRead = Pick<Request<ResourceResult>, "kind" | "serverName" | "serverToolName" | "shown" | "target">;

function resource(serverName: string, uri: string, { timeout, wait }: RequestOptions): ResourceRead {
  return {
    kind: "resource",
    serverName,
    serverToolName: uri,
    shown: shownRead(serverName, uri),
    target: { kind: "read", timeout, wait, send: (client, times) => client.readResource(uri, times) },
  };
}

/** Reads a resource that the user's message names. A file of a skill must equal the skill's entry. */
async function readMentioned(
  server: string,
  uri: string,
  { wait, signal }: RequestOptions,
  host: RequestHost,
): Promise<ResourceResult> {
  const found = await skillAt(server, uri, { who: "user", wait, signal }, host);
  if (found === undefined) return readForUser(server, uri, { wait, signal }, host);
  const file = await readSkillForUser(server, found.skill.uri, { file: found.file, wait, signal }, host);
  return normaliseResourceResult(toResource(file), uri);
}

/** Replaces `@` references in a message by the content of resources and local files. */
export function expandReferences(
  text: string,
  { signal: given, wait, servers }: NonNullable<Parameters<Host["expandReferences"]>[1]>,
  host: RequestHost & { readonly registries: { readonly resources: ResourceRegistry } },
  keep: Keep,
): ReturnType<Host["expandReferences"]> {
  const { registries, work } = host;
  const chosen = servers ?? host.servers.names();
  return work.run(async (signal) => {
    const isKnown = (server: string): boolean => host.servers.find(server)?.catalog !== undefined;
    const [{ resolveReferences, serversNamedIn }, { readReferences }, { createFileFinder }, { chosenResources }] =
      await Promise.all([
        import("../resources/references/references.ts"),
        import("../resources/references/references.ts"),
        import("../resources/references/local-file.ts"),
        import("../resources/references/resource-reference.ts"),
      ]);
    const connect = (names: readonly string[]): Promise<unknown> =>
      Promise.allSettled(names.map((server) => readyWithin(host.servers.get(server), wait, host.clock, signal)));
    // Connects the servers that the text names. Errors are ignored here: reading the resource reports them.
    await connect(serversNamedIn(text, chosen).filter((server) => !isKnown(server)));
    const { trust, locations } = host.servers.configuration;
    const source = {
      servers: chosen,
      resources: chosenResources(chosen, registries.resources),
      findFile: trust.trusted ? createFileFinder(locations.root) : undefined,
    };
    let pieces = await resolveReferences(text, source);
    /*
     * The URI may belong to a server whose catalog was not read yet. So Fairlead connects these servers and searches
     * again.
     */
    const strangers = chosen.filter((server) => !isKnown(server));
    if (strangers.length > 0 && pieces.some(({ kind, text }) => kind === "unresolved" && text.includes("://"))) {
      await connect(strangers);
      pieces = await resolveReferences(text, source);
    }
    return readReferences(pieces, {
      readResource: (server, uri, until) => readMentioned(server, uri, { wait, signal: until }, host),
      keep,
      signal,
    });
  }, given);
}
