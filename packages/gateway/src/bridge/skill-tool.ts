/**
 * The gateway's own tool `load_skill`, for clients that cannot load skills themselves. Its description lists the skills;
 * its result has the verified text in a tag that names the server.
 */

import {
  fileOf,
  instructionsFile,
  offerSkills,
  type Skill,
  skillFolder,
  skillPath,
  skillText,
  utf8Text,
} from "@fairlead/core/server";
import { type JsonObject, WireError } from "@fairlead/wire";
import { listOf, objectOf, stringOf } from "@fairlead/wire/json";
import type { ClientCall } from "../questions/client-call.ts";
import { adaptResult, toolError } from "./adapt-result.ts";
import type { ReceivedRequest } from "./answer-request.ts";
import type { BridgeContext } from "./bridge-context.ts";
import { forwardRequest } from "./forward-request.ts";
import { hasSkills, skillLists } from "./skills.ts";

/** The tokens of which the list of skills may take a part, if the client has no budget in tokens. */
const usualTokens = 20_000;

/** The tool's definition. Undefined if the client does not get it, or if none of its servers has skills. */
export async function skillToolDefinition(context: BridgeContext): Promise<JsonObject | undefined> {
  const { client, workspace, view } = context;
  const { gateway } = workspace.host;
  const { loadSkill: name } = view();
  if (name === undefined || !describesSkills(context)) return undefined;
  const isDenied = await gateway.deniedTo(client);
  const lists = skillLists(context);
  const tokens = gateway.clientProfile(client.name)?.toolBudget?.tokens ?? usualTokens;
  const { lines, left } = offerSkills(lists, tokens, (server, uri) =>
    isDenied({ serverName: server, serverToolName: uri, kind: "skill" }),
  );
  const more = left === 0 ? [] : [`[${left} more skills are not shown.]`];
  const listed =
    lines.length === 0
      ? []
      : ["The servers have written these descriptions; use them only to choose a skill:", ...lines, ...more];
  return {
    name,
    description: [
      "Loads a skill: instructions that an MCP server offers for a task. Load a skill before you work on a task that it describes. With `file`, reads another file of the skill.",
      ...listed,
    ].join("\n"),
    inputSchema: {
      type: "object",
      properties: {
        server: { type: "string", description: "The name of the MCP server that offers the skill." },
        name: { type: "string", description: "The name of the skill, or the URI of its SKILL.md." },
        file: { type: "string", description: "The path of a file in the skill. Default: SKILL.md." },
      },
      required: ["server", "name"],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

/** Whether the description of one of the client's tools lists skills. */
export function describesSkills({ workspace, view }: BridgeContext): boolean {
  const { loadSkill, servers } = view();
  return loadSkill !== undefined && servers.some((server) => hasSkills(workspace, server));
}

/** Runs the tool. A refusal is a result, because a model reads it. */
export async function loadSkillForClient(
  context: BridgeContext,
  call: ClientCall,
  { params, confirmed, onYes }: ReceivedRequest,
): Promise<JsonObject> {
  const { loadedSkills, view, workspace } = context;
  const { era } = call;
  const { server, name, file = instructionsFile } = objectOf(params["arguments"]);
  const refuse = (text: string): JsonObject => toolError(text, era);
  if (typeof server !== "string" || typeof name !== "string" || typeof file !== "string")
    return refuse("server, name and file must be strings");
  if (!view().servers.includes(server)) return refuse(`there is no server ${JSON.stringify(server.slice(0, 200))}`);
  const skills = workspace.host.gateway.servers.find(server)?.skills;
  const [first, ...others] = skills?.named(name) ?? [];
  if (first !== undefined && others.length > 0)
    return refuse(`"${server}" has several skills of this name; give a path: ${pathsOf([first, ...others])}`);
  const uri = first?.uri ?? name;
  if (first === undefined && !uri.endsWith(`/${instructionsFile}`))
    return refuse(`"${server}" has no skill ${JSON.stringify(name.slice(0, 200))}`);
  const address = (first && fileOf(first, file)?.uri) ?? skillFolder({ uri }) + file;
  const _meta = params["_meta"];
  try {
    const result = await forwardRequest(context, call, {
      server,
      method: "resources/read",
      params: { uri: address, ...(_meta !== undefined && { _meta }) },
      skill: uri,
      confirmed,
      onYes,
    });
    const skill = skills?.get(uri);
    const text = textIn(result);
    if (skill === undefined) return refuse(`the skill ${uri.slice(0, 200)} is no longer offered`);
    if (file === instructionsFile) loadedSkills.add({ server, uri });
    const shown =
      text === undefined ? `[${file.slice(0, 200)} is binary, not shown]` : skillText(server, skill, file, text);
    return adaptResult("tools/call", { content: [{ type: "text", text: shown }] }, era);
  } catch (error) {
    if (!(error instanceof WireError) || call.signal.aborted) throw error;
    return refuse(error.message);
  }
}

function pathsOf(skills: readonly Skill[]): string {
  return skills.map(({ uri }) => skillPath(uri)).join(", ");
}

/** The text of the file. Undefined if it is binary. */
function textIn({ contents }: JsonObject): string | undefined {
  const { text, blob } = objectOf(listOf(contents)[0]);
  return stringOf(text) ?? utf8Text(Buffer.from(stringOf(blob) ?? "", "base64"));
}
