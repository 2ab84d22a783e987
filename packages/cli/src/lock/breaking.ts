/**
 * Finds the differences from the lock file that can break callers. Harmless differences, such as changed descriptions,
 * are left out.
 */

import { argumentSchema } from "@fairlead/core/normalise/schema/argument-schema";
import { promptDigest } from "@fairlead/core/policy/lock/lock-file";
import { breakingChanges } from "@fairlead/core/server/breaking-changes";
import type { CatalogPrompt, CatalogTool } from "@fairlead/core/server/catalog";
import { definitionDigest } from "@fairlead/core/server/tool-changes";
import type { LockCheck } from "./workspace.ts";

/**
 * Message about a changed tool that cannot be compared: the lock file has only digests of tool definitions.
 */
const unknown = "has changed, and its locked definition is not in the catalog cache";
/** Parts of a locked server that can change without breaking a caller. */
const harmless: ReadonlySet<string> = new Set(["version", "instructions"]);

/**
 * Returns the breaking differences of one server, each as one sentence. A difference that cannot be examined counts as
 * breaking.
 */
export function breakingDrift({ name, lock, drift, look }: LockCheck): readonly string[] {
  if (drift === undefined) return [];
  if (drift.kind !== "changed")
    return [drift.kind === "added" ? "the server is not locked" : "the server is no longer in the settings"];
  const { members, tools, prompts } = drift;
  const locked = lock.get(name);
  const [before, after] = look?.kind === "seen" ? [look.remembered, look.catalog] : [undefined, undefined];

  function toolChanges(tool: string): readonly string[] {
    const digest = locked?.tools.get(tool);
    const old = before?.tools.find((each) => each.name === tool && definitionDigest(each) === digest);
    const now = after?.tools.find((each) => each.name === tool);
    if (old === undefined || now === undefined) return [`tool ${tool} ${unknown}`];
    return breakingChanges(asCalled(old), asCalled(now)).map((change) => `tool ${tool}: ${change}`);
  }

  function promptChanges(prompt: string): readonly string[] {
    const digest = locked?.prompts.get(prompt);
    const old = before?.prompts.find((each) => each.name === prompt && promptDigest(each) === digest);
    const now = after?.prompts.find((each) => each.name === prompt);
    if (old === undefined || now === undefined) return [`prompt ${prompt} ${unknown}`];
    return argumentChanges(old, now).map((change) => `prompt ${prompt}: ${change}`);
  }

  return [
    ...members.flatMap(({ member }) => (harmless.has(member) ? [] : [`${member} of the entry has changed`])),
    ...tools.removed.map((tool) => `tool ${tool} was removed`),
    ...tools.changed.flatMap(toolChanges),
    ...prompts.removed.map((prompt) => `prompt ${prompt} was removed`),
    ...prompts.changed.flatMap(promptChanges),
  ];
}

/** A tool as its callers see it: a parameter with a default is optional. */
function asCalled(tool: CatalogTool): CatalogTool {
  return { ...tool, inputSchema: argumentSchema(tool.inputSchema) };
}

function argumentChanges(before: CatalogPrompt, after: CatalogPrompt): readonly string[] {
  const old = new Map(before.arguments.map((argument) => [argument.name, argument]));
  const now = new Set(after.arguments.map(({ name }) => name));
  return [
    ...after.arguments.flatMap(({ name, required }) =>
      required && old.get(name)?.required !== true ? [`the argument ${name} is now required`] : [],
    ),
    ...[...old.keys()].flatMap((name) => (now.has(name) ? [] : [`the argument ${name} was removed`])),
  ];
}
