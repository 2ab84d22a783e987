/** What a rule of the Gemini API looks at. */

import type { Reply } from "../../reply.ts";
import { invalidArgument } from "../errors.ts";
import { type Declaration, declarationsIn, type GeminiBody } from "../request.ts";
import type { GeminiSettings } from "../settings.ts";

export interface Heard {
  readonly api: "gemini" | "vertex";
  readonly body: GeminiBody;
  readonly settings: GeminiSettings;
  /** Every signature that was given so far. */
  readonly signatures: ReadonlySet<string>;
  readonly inputTokens: number;
}

/** What is answered if the rule is broken. */
export type Rule = (heard: Heard) => Reply | undefined;

/** What is wrong with one declaration; the index is its place in the request. */
export type DeclarationRule = (declaration: Declaration, index: number, heard: Heard) => readonly string[];

/** All that is wrong with all of them, in one answer. */
export function eachDeclaration(rule: DeclarationRule, say: (faults: readonly string[]) => string): Rule {
  return (heard) => {
    const faults = declarationsIn(heard.body).flatMap((declaration, index) => rule(declaration, index, heard));
    return faults.length === 0 ? undefined : invalidArgument(say(faults));
  };
}

/** The first thing that is wrong with any of them, as a sentence of its own. */
export function firstOf(rule: DeclarationRule): Rule {
  return eachDeclaration(rule, ([first = ""]) => first);
}

export function inProto(faults: readonly string[]): string {
  return `The GenerateContentRequest proto is invalid:\n${faults.map((fault) => `  * ${fault}`).join("\n")}`;
}

export function inRequest(faults: readonly string[]): string {
  return faults.map((fault) => `* GenerateContentRequest.${fault}\n`).join("");
}

export function declarationAt(index: number): string {
  return `tools[0].function_declarations[${index}]`;
}
