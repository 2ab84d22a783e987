/** Runs the model's `load_skill` and `read_skill_file`. */

import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { toModelParts } from "../normalise/content/parts.ts";
import { readSkill } from "../request/skills.ts";
import type { ToolExecution } from "../server/registered-tool.ts";
import { instructionsFile } from "../skills/skill.ts";
import { skillOrigin, skillText, utf8Text } from "../skills/skill-text.ts";
import { sizeWords } from "../text/size-words.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import type { TurnCall } from "./calls.ts";

/** Loads a skill, or reads one of its files, if the rules or the user allow it. */
export async function runSkillFunction(
  own: "load_skill" | "read_skill_file",
  args: JsonObject,
  call: TurnCall,
): Promise<ToolExecution> {
  const { host, state, signal } = call;
  const server = textArgument(args, "server");
  const name = textArgument(args, "name");
  const file = own === "load_skill" ? instructionsFile : textArgument(args, "file");
  const servers = state.toolSelection.servers();
  if (!servers.includes(server)) {
    const serverNames = servers.map((each) => `"${each}"`).join(", ");
    throw new HostError(
      "server_unknown",
      `there is no server ${JSON.stringify(server)}; the servers are ${serverNames}`,
    );
  }
  call.goesTo(server);
  const [held] = host.servers.find(server)?.skills.named(name) ?? [];
  const { skill, bytes, path } = await readSkill(
    { server, skill: name, file },
    {
      who: "model",
      signal,
      confirm: (question) => call.ask(question),
      onAllowed: (rule) => call.begin(rule),
      actingOn: state.loadedSkills.actingOn(server, held?.uri),
    },
    host,
  );
  if (path === instructionsFile) state.loadedSkills.add({ server, uri: skill.uri });
  const origin = skillOrigin(server, skill);
  const text = utf8Text(bytes);
  const returnDisplay = `${server}/${skill.name}: ${path} (${sizeWords(bytes.length)})`;
  if (text === undefined)
    return {
      llmContent: [{ text: `[${path} of ${origin} is binary: ${sizeWords(bytes.length)}, not shown]` }],
      returnDisplay,
    };
  const { tokens, keep } = call.largeResults(server);
  if (estimateTokens(text) <= tokens)
    return { llmContent: [{ text: skillText(server, skill, path, text) }], returnDisplay };
  const parts = await toModelParts([{ type: "text", text }], { toolName: own, limits: { tokens }, keep });
  return { llmContent: [{ text: `[${path} of the ${origin}:]` }, ...parts], returnDisplay };
}

function textArgument(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value !== "string" || value === "") throw new HostError("arguments_invalid", `${name} must be a string`);
  return value;
}
