/** The skills of servers in a conversation: the list in the system text, and the model's `load_skill` and `read_skill_file`. */

import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import type { RunningHost } from "../host/running-host.ts";
import { toModelParts } from "../normalise/content/parts.ts";
import { shorten, toLabel } from "../normalise/content/shorten.ts";
import { createNonce } from "../normalise/content/untrusted.ts";
import { readSkill } from "../request/skills.ts";
import type { ToolExecution } from "../server/registered-tool.ts";
import { ignoredMembers, instructionsFile, type Skill, skillPath } from "../skills/skill.ts";
import { toModelText } from "../text/model-text.ts";
import { sizeWords } from "../text/size-words.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import type { TurnCall } from "./calls.ts";

/** The names and descriptions of skills for the system text, and how many skills did not fit. */
export interface OfferedSkills {
  readonly lines: readonly string[];
  readonly left: number;
  readonly tokens: number;
}

/** The largest share of the tool budget that the list of skills may take. */
const mostOfBudget = 0.25;
/** Longer descriptions are cut in the list. The whole description is part of `SKILL.md`. */
const longestDescription = 300;

/**
 * The list of skills for a model. Each server gives one skill in turn, so that a server with thousands of skills does
 * not crowd out the others. Skills that a rule denies are left out.
 *
 * @param budget The tokens of the tool budget.
 */
export function offerSkills(names: readonly string[], budget: number, host: RunningHost): OfferedSkills {
  const queues = names.map((server) => ({ server, skills: host.servers.find(server)?.skills.all() ?? [] }));
  const all = queues.reduce((sum, { skills }) => sum + skills.length, 0);
  const longest = queues.reduce((most, { skills }) => Math.max(most, skills.length), 0);
  const labelers = queues.map(({ skills }) => labeler(skills));
  const lines: string[] = [];
  let tokens = 0;
  let hidden = 0;
  for (let round = 0; round < longest; round += 1) {
    for (const [at, { server, skills }] of queues.entries()) {
      const skill = skills[round];
      if (skill === undefined) continue;
      if (host.policy.isSkillDenied(server, skill.uri)) {
        hidden += 1;
        continue;
      }
      const line = `- server "${toLabel(server)}", skill "${toLabel(labelers[at]?.(skill) ?? skill.name)}": ${about(skill)}`;
      const size = estimateTokens(line);
      if (tokens + size > budget * mostOfBudget) return { lines, left: all - hidden - lines.length, tokens };
      tokens += size;
      lines.push(line);
    }
  }
  return { lines, left: 0, tokens };
}

/** Returns a function that gives each skill its name, or its path if another skill of the server has the same name. */
function labeler(skills: readonly Skill[]): (skill: Skill) => string {
  const counts = new Map<string, number>();
  for (const { name } of skills) counts.set(name, (counts.get(name) ?? 0) + 1);
  return ({ name, uri }) => ((counts.get(name) ?? 0) > 1 ? skillPath(uri) : name);
}

function about({ description }: Skill): string {
  const text = toModelText(description).replaceAll(/\s+/g, " ").trim();
  return text.length > longestDescription ? shorten(text, longestDescription) : text;
}

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
  const { skill, bytes, path } = await readSkill(
    { server, skill: name, file },
    { who: "model", signal, confirm: (question) => call.ask(question), onAllowed: (rule) => call.begin(rule) },
    host,
  );
  const origin = `skill "${toLabel(skill.name)}" of the MCP server "${toLabel(server)}"`;
  const text = textOf(bytes);
  const returnDisplay = `${server}/${skill.name}: ${path} (${sizeWords(bytes.length)})`;
  if (text === undefined)
    return {
      llmContent: [{ text: `[${path} of ${origin} is binary: ${sizeWords(bytes.length)}, not shown]` }],
      returnDisplay,
    };
  const { tokens, keep } = call.largeResults(server);
  if (path === instructionsFile && estimateTokens(text) <= tokens) {
    const tag = `skill_${createNonce()}`;
    const files = skill.files?.flatMap((each) => (each.path === path ? [] : [each.path])) ?? [];
    const ignored = ignoredMembers(skill);
    const introduction = [
      `[Up to </${tag}> these are the instructions of the ${origin}. The user has allowed this skill. It is not a local skill, and it gives no permissions: every call is decided as always.`,
      ...(ignored.length > 0 ? [`${ignored.join(", ")} in its frontmatter have no effect.`] : []),
      ...(files.length > 0 ? [`Its other files: ${files.slice(0, 100).join(", ")}.`] : []),
    ].join(" ");
    return { llmContent: [{ text: `${introduction}]\n<${tag}>\n${toModelText(text)}\n</${tag}>` }], returnDisplay };
  }
  const parts = await toModelParts([{ type: "text", text }], { toolName: own, limits: { tokens }, keep });
  return { llmContent: [{ text: `[${path} of the ${origin}:]` }, ...parts], returnDisplay };
}

function textArgument(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value !== "string" || value === "") throw new HostError("arguments_invalid", `${name} must be a string`);
  return value;
}

/** The text of a file. Undefined if it is not valid UTF-8. */
function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
