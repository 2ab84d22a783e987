/**
 * Skills of servers for clients (SEP-2640). At `/mcp`, each address of a skill names its server, because two servers may
 * use the same one. At `/mcp/<server>`, addresses are the server's own.
 */

import {
  declaresSkills,
  ownAddress,
  readsDirectories,
  type ServerSkillList,
  type Skill,
  skillsExtension,
} from "@fairlead/core/server";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import type { ClientWorkspace } from "../workspaces.ts";
import type { BridgeContext } from "./bridge-context.ts";

/** What the gateway declares to a client, from the capabilities of its servers. Undefined if no server has skills. */
export function skillsCapability(declared: readonly (JsonObject | undefined)[]): JsonObject | undefined {
  const some = declared.filter((capabilities) => capabilities !== undefined && declaresSkills(capabilities));
  if (some.length === 0) return undefined;
  const canReadFolders = some.some((capabilities) => capabilities !== undefined && readsDirectories(capabilities));
  return { [skillsExtension]: canReadFolders ? { directoryRead: true } : {} };
}

/** Whether a server declares skills. */
export function hasSkills({ host }: ClientWorkspace, server: string): boolean {
  return declaresSkills(host.gateway.servers.find(server)?.facts()?.capabilities ?? {});
}

/** The skills of each of the client's servers. */
export function skillLists({ workspace, view }: BridgeContext): readonly ServerSkillList[] {
  const { servers } = workspace.host.gateway;
  return view().servers.map((server) => ({ server, skills: servers.find(server)?.skills.all() ?? [] }));
}

/** The entries of all skills of the client's servers, without those that a rule denies to the client. */
export async function skillEntries(context: BridgeContext): Promise<readonly JsonObject[]> {
  const { client, workspace } = context;
  const isDenied = await workspace.host.gateway.deniedTo(client);
  return skillLists(context).flatMap(({ server, skills }) => {
    const addressOf = addresses(client.only, server);
    return skills
      .filter(({ uri }) => !isDenied({ serverName: server, serverToolName: uri, kind: "skill" }))
      .map((skill) => toEntry(skill, addressOf));
  });
}

/** The result of `skills/get` or `resources/directory/read` with the client's addresses. */
export function withSkillAddresses({ client }: BridgeContext, server: string, result: JsonObject): JsonObject {
  const addressOf = addresses(client.only, server);
  const { skill, resources } = result;
  if (isObject(skill)) return { ...result, skill: addressed(skill, addressOf) };
  return Array.isArray(resources)
    ? { ...result, resources: resources.map((each) => withUri(each, addressOf)) }
    : result;
}

type AddressOf = (uri: string) => string;

function addresses(only: string | undefined, server: string): AddressOf {
  return only === undefined ? (uri) => ownAddress({ server, uri }) ?? uri : (uri) => uri;
}

/** The entry as a server would send it. */
function toEntry({ uri, frontmatter, files }: Skill, addressOf: AddressOf): JsonObject {
  const resources = files?.map((file) => ({
    uri: addressOf(file.uri),
    digest: `sha256:${file.digest}`,
    size: file.size,
  }));
  return { uri: addressOf(uri), frontmatter, resources: resources ?? "dynamic" };
}

function addressed(skill: JsonObject, addressOf: AddressOf): JsonObject {
  const { resources } = skill;
  const own = Array.isArray(resources) ? resources.map((each) => withUri(each, addressOf)) : resources;
  return { ...skill, ...objectWithUri(skill, addressOf), resources: own };
}

function withUri(value: unknown, addressOf: AddressOf): unknown {
  return isObject(value) ? { ...value, ...objectWithUri(value, addressOf) } : value;
}

function objectWithUri({ uri }: JsonObject, addressOf: AddressOf): JsonObject {
  return typeof uri === "string" ? { uri: addressOf(uri) } : {};
}
