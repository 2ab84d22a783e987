/** Reads the members of one `[[rule]]`. Reports and counts every member that is misspelt or has the wrong type. */

import { limits } from "../../limits.ts";
import { closest } from "../../text/closest.ts";
import { isTable, type TextPosition, type TomlItem, type TomlTable } from "./toml-tree.ts";

/** The members of Gemini CLI's rules, and `kind`, which only Fairlead has. */
const known = [
  "mcpName",
  "toolName",
  "kind",
  "argsPattern",
  "annotations",
  "decision",
  "priority",
  "modes",
  "interactive",
  "denyMessage",
] as const;
type Field = (typeof known)[number];

const otherSpellings: ReadonlyMap<string, Field> = new Map([
  ["toolAnnotations", "annotations"],
  ["deny_message", "denyMessage"],
]);

type Report = (at: TextPosition, message: string, next?: string) => void;

/** Typed access to the members of one rule. */
export interface RuleFields {
  readonly has: (field: Field) => boolean;
  readonly place: (field: Field) => TextPosition;
  readonly text: (field: Field) => string | undefined;
  /** A single text counts as a list of one. */
  readonly texts: (field: Field) => readonly string[] | undefined;
  readonly flag: (field: Field) => boolean | undefined;
  readonly number: (field: Field, lowest: number, highest: number) => number | undefined;
  readonly plainTable: (field: Field) => ReadonlyMap<string, unknown> | undefined;
  /** Returns the nearest choice for a misspelt value. */
  readonly oneOf: <T extends string>(field: Field, choices: readonly T[]) => T | undefined;
  readonly mistake: (field: Field, problem: string, next?: string) => undefined;
}

/** Creates the reader of one rule. A misspelt member is read as the one that it resembles. */
export function createRuleFields(table: TomlTable, start: TextPosition, report: Report): RuleFields {
  const items = new Map<string, TomlItem>();
  for (const [name, item] of table) {
    const field = known.find((one) => one === name) ?? otherSpellings.get(name);
    if (field !== undefined) items.set(field, item);
  }
  for (const [name, item] of table) {
    if (known.some((one) => one === name) || otherSpellings.has(name)) continue;
    const meant = closest(name, known);
    report(item, `"${name}" is not a known key of a rule`, didYouMean(meant));
    if (meant !== undefined && !items.has(meant)) items.set(meant, item);
  }

  const place = (field: Field): TextPosition => items.get(field) ?? start;
  const value = (field: Field): TomlItem["value"] => items.get(field)?.value;

  function mistake(field: Field, problem: string, next?: string): undefined {
    report(place(field), `"${field}" ${problem}`, next);
  }

  function flawless(field: Field, text: unknown): string | undefined {
    if (typeof text !== "string") return mistake(field, "must be a string");
    if (text === "") return mistake(field, "is empty");
    if (text.length <= limits.policyText) return text;
    return mistake(field, `is longer than ${limits.policyText} characters`);
  }

  function text(field: Field): string | undefined {
    return items.has(field) ? flawless(field, value(field)) : undefined;
  }

  return {
    has: (field) => items.has(field),
    place,
    mistake,
    text,
    texts(field) {
      if (!items.has(field)) return undefined;
      const given = value(field);
      if (!Array.isArray(given)) {
        const only = text(field);
        return only === undefined ? undefined : [only];
      }
      if (given.length === 0) return mistake(field, "is an empty list");
      const texts: string[] = [];
      for (const item of given) {
        const read = flawless(field, item.value);
        if (read === undefined) return undefined;
        texts.push(read);
      }
      return texts;
    },
    flag(field) {
      const given = value(field);
      if (!items.has(field)) return undefined;
      return typeof given === "boolean" ? given : mistake(field, "must be true or false");
    },
    number(field, lowest, highest) {
      const given = value(field);
      if (typeof given === "number" && Number.isInteger(given) && given >= lowest && given <= highest) return given;
      return mistake(
        field,
        `${items.has(field) ? "must be" : "is missing: write"} a whole number from ${lowest} to ${highest}`,
      );
    },
    plainTable(field) {
      const given = value(field);
      if (!items.has(field)) return undefined;
      if (!isTable(given)) return mistake(field, "must be a table, { name = value }");
      const members = [...given].map(([name, item]) => [name, item.value] as const);
      if (members.every(([, member]) => ["string", "number", "boolean"].includes(typeof member)))
        return new Map(members);
      return mistake(field, "may contain only strings, numbers, true and false");
    },
    oneOf(field, choices) {
      const given = text(field);
      const choice = choices.find((one) => one === given);
      if (choice !== undefined || given === undefined) return choice;
      const near = closest(given, choices);
      const meant = choices.find((one) => one === near) ?? choices.find((one) => one.startsWith(given));
      mistake(field, `is "${given}", not one of ${choices.join(", ")}`, didYouMean(meant));
      return meant;
    },
  };
}

/** Returns the text of a suggestion. */
export function didYouMean(meant: string | undefined): string | undefined {
  return meant === undefined ? undefined : `Did you mean "${meant}"?`;
}
