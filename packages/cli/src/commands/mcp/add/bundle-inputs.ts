/** Asks for the values that a bundle needs: from `--input NAME=VALUE`, then on the terminal. */

import { HostError } from "@fairlead/core/errors";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type BundleAnswers, checkAnswers, defaultAnswers } from "@fairlead/registry/bundles/bundle-entry";
import type { BundleInput } from "@fairlead/registry/bundles/manifest";
import { BundleRefusal } from "@fairlead/registry/bundles/zip";
import { askHiddenOrEnd, askLineOrEnd, canAsk } from "../../../shell/prompt.ts";
import type { Context } from "../../../shell/verb.ts";

/**
 * Returns the answers, checked by their type.
 *
 * @throws HostError `usage` if a value does not fit, or a required one is missing and there is no terminal
 */
export async function askForInputs(
  inputs: readonly BundleInput[],
  words: readonly string[],
  context: Context,
): Promise<BundleAnswers> {
  const { io, globals } = context;
  const given = readWords(inputs, words);
  const answers = new Map<string, readonly string[]>();
  const missing: BundleInput[] = [];
  for (const input of inputs) {
    const typed = given.get(input.key);
    const answer =
      typed !== undefined
        ? await check(input, typed, context)
        : canAsk(io) && !globals.json
          ? await ask(input, context)
          : await check(input, defaultAnswers(input, io), context);
    if (answer.length > 0) answers.set(input.key, answer);
    else if (input.isRequired) missing.push(input);
  }
  if (missing.length > 0)
    throw new HostError(
      "usage",
      `values are missing: ${missing.map(({ key, title }) => `${key} (${title})`).join(", ")}`,
      {
        next: `add ${missing.map(({ key }) => `--input ${key}=VALUE`).join(" ")}`,
      },
    );
  return answers;
}

function readWords(inputs: readonly BundleInput[], words: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const given = new Map<string, readonly string[]>();
  for (const word of words) {
    const at = word.indexOf("=");
    const key = at < 0 ? word : word.slice(0, at);
    if (at < 0) throw new HostError("usage", `--input ${key} has no value: write --input NAME=VALUE`);
    if (!inputs.some((input) => input.key === key))
      throw new HostError("usage", `the bundle asks for no value "${key}"`, {
        next: inputs.length === 0 ? "leave --input out" : `it asks for: ${inputs.map((input) => input.key).join(", ")}`,
      });
    given.set(key, [...(given.get(key) ?? []), word.slice(at + 1)]);
  }
  return given;
}

async function check(input: BundleInput, values: readonly string[], { io }: Context): Promise<readonly string[]> {
  try {
    return await checkAnswers(input, values, io.home, io.cwd);
  } catch (error) {
    if (!(error instanceof BundleRefusal)) throw error;
    throw new HostError("usage", `the value for "${input.key}" (${input.title}) ${error.message}`, {
      next: `add --input ${input.key}=VALUE`,
    });
  }
}

async function ask(input: BundleInput, context: Context): Promise<readonly string[]> {
  const { io, out } = context;
  const { title, description, isRequired, isMultiple, isSensitive } = input;
  const defaults = defaultAnswers(input, io);
  if (description !== "") out.say(safe`${toVisibleLine(description.slice(0, 500))}`);
  const values: string[] = [];
  for (;;) {
    const question = safe`${toVisibleLine(title)}${kindWords(input)}${defaultWords(values.length > 0 ? [] : defaults)}${values.length > 0 ? safe` (another one; Enter ends)` : safe``}: `;
    const line = await (isSensitive ? askHiddenOrEnd(io, question) : askLineOrEnd(io, question));
    if (line === undefined) throw new HostError("cancelled", "cancelled; nothing was changed");
    const typed = line.trim();
    if (typed === "" && values.length > 0) return values;
    if (typed === "" && defaults.length === 0 && !isRequired) return [];
    try {
      const checked = await checkAnswers(input, typed === "" ? defaults : [typed], io.home, io.cwd);
      if (checked.length === 0) continue;
      if (!isMultiple || typed === "") return checked;
      values.push(...checked);
    } catch (error) {
      if (!(error instanceof BundleRefusal)) throw error;
      out.warn(safe`"${toVisibleLine(title)}" ${toVisibleLine(error.message)}`);
    }
  }
}

function kindWords({ type, isRequired, min, max }: BundleInput): SafeText {
  const range =
    min === undefined && max === undefined
      ? safe``
      : safe`${min === undefined ? safe`` : safe` from ${min}`}${max === undefined ? safe`` : safe` up to ${max}`}`;
  const kind = toSafeLine(type === "directory" ? "folder" : type === "string" ? "text" : type);
  return safe` (${kind}${range}${isRequired ? safe`` : safe`, optional`})`;
}

function defaultWords(defaults: readonly string[]): SafeText {
  return defaults.length === 0 ? safe`` : safe` [${toVisibleLine(defaults.join(", "))}]`;
}
