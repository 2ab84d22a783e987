/** The input and the types of the Gemini API's rules. */

import type { Reply } from "../../reply.ts";
import { invalidArgument } from "../errors.ts";
import { type Declaration, declarationsIn, type GeminiBody } from "../request.ts";
import type { GeminiSettings } from "../settings.ts";

export interface Heard {
  readonly api: "gemini" | "vertex";
  readonly body: GeminiBody;
  readonly settings: GeminiSettings;
  /** Every signature that the server has given so far. */
  readonly signatures: ReadonlySet<string>;
  readonly inputTokens: number;
}

/** Returns the API's answer if the rule is broken. */
export type Rule = (heard: Heard) => Reply | undefined;

/** Returns the faults of one declaration. The index is its position in the request. */
export type DeclarationRule = (declaration: Declaration, index: number, heard: Heard) => readonly string[];

/** Creates a rule that reports all faults of all declarations in one answer. */
export function eachDeclaration(rule: DeclarationRule, say: (faults: readonly string[]) => string): Rule {
  return (heard) => {
    const faults = declarationsIn(heard.body).flatMap((declaration, index) => rule(declaration, index, heard));
    return faults.length === 0 ? undefined : invalidArgument(say(faults));
  };
}

/** Creates a rule that reports only the first fault of all declarations. */
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
