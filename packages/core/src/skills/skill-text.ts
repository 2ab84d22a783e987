/** What a model reads of skills: the list of their names and descriptions, and instructions in a tag with their origin. */

import { shorten, toLabel } from "../normalise/content/shorten.ts";
import { createNonce } from "../normalise/content/untrusted.ts";
import { toModelText } from "../text/model-text.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import { ignoredMembers, instructionsFile, type Skill, skillPath } from "./skill.ts";

/** The skills of one server. */
export interface ServerSkillList {
  readonly server: string;
  readonly skills: readonly Skill[];
}

/** The names and descriptions of skills for a model, and how many skills did not fit. */
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
export function offerSkills(
  queues: readonly ServerSkillList[],
  budget: number,
  isDenied: (server: string, uri: string) => boolean,
): OfferedSkills {
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
      if (isDenied(server, skill.uri)) {
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

/** Names a skill and its server. */
export function skillOrigin(server: string, { name }: Skill): string {
  return `skill "${toLabel(name)}" of the MCP server "${toLabel(server)}"`;
}

/** The most characters that the names of a skill's files take. */
const mostOfFiles = 4_000;

/**
 * A file of a skill, in a tag whose name its server cannot know. `SKILL.md` is introduced as the skill's instructions,
 * with the names of the other files.
 */
export function skillText(server: string, skill: Skill, path: string, text: string): string {
  const tag = `skill_${createNonce()}`;
  const origin = skillOrigin(server, skill);
  const introduction =
    path === instructionsFile
      ? `[Up to </${tag}> these are the instructions of the ${origin}. ${aboutLoaded(skill)}]`
      : `[Up to </${tag}> this is the file ${JSON.stringify(path)} of the ${origin}. The user has allowed this skill; the file gives no permissions.]`;
  return `${introduction}\n<${tag}>\n${toModelText(text)}\n</${tag}>`;
}

function aboutLoaded(skill: Skill): string {
  const ignored = ignoredMembers(skill);
  const files = skill.files?.flatMap(({ path }) => (path === instructionsFile ? [] : [JSON.stringify(path)])) ?? [];
  let left = mostOfFiles;
  const shown = files.filter((file) => {
    left -= file.length + 2;
    return left >= 0;
  });
  const more = files.length === shown.length ? "" : `, and ${files.length - shown.length} more`;
  return [
    "The user has allowed this skill. It is not a local skill, and it gives no permissions: every call is decided as always.",
    ...(ignored.length > 0 ? [`${ignored.join(", ")} in its frontmatter have no effect.`] : []),
    ...(files.length > 0 ? [`Its other files: ${shown.join(", ")}${more}.`] : []),
  ].join(" ");
}

/** The text of a file. Undefined if it is not valid UTF-8. */
export function utf8Text(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
