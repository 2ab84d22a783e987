/**
 * What a publisher leaves open in an entry, as questions; and the answers as text for a settings file. Text of the
 * publisher and of the user never expands a variable: `$` is written as `$$`.
 */

import { HostError } from "@fairlead/core/errors";
import type { RegistryInput } from "./server-json.ts";

/** One value that the user gives. The publisher's texts are a stranger's. */
export interface InputQuestion {
  /** The name for `--input NAME=VALUE`. */
  readonly name: string;
  readonly description: string | undefined;
  readonly kind: "text" | "number" | "boolean" | "file" | "choice";
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  /** The value goes to the secret store, and only its name into the settings. */
  readonly isSecret: boolean;
  /** Whether several values are possible. */
  readonly isRepeated: boolean;
  readonly default: string | undefined;
  readonly placeholder: string | undefined;
}

/** The user's answers by the name of the question. */
export type InputAnswers = ReadonlyMap<string, readonly string[]>;

/** A secret to store before the entry is written. */
export interface NewSecret {
  readonly name: string;
  readonly value: string;
}

/** An input with the `{variables}` of its `value`. */
export type FillableInput = RegistryInput & { readonly variables?: Readonly<Record<string, RegistryInput>> };

const reference = /^\$\{secret:[\w.-]+\}$/;

/** Fills in the inputs of one package or remote, and collects its questions. */
export class InputFiller {
  readonly #answers: InputAnswers;
  readonly #secretName: (input: string) => string;
  readonly #questions = new Map<string, InputQuestion>();
  readonly #inputs = new Map<RegistryInput, string>();
  readonly #missing: string[] = [];
  readonly #secrets: NewSecret[] = [];
  readonly #given = new Map<string, string>();

  constructor(answers: InputAnswers, secretName: (input: string) => string) {
    this.#answers = answers;
    this.#secretName = secretName;
  }

  /** The values of an input, as a settings file has them. Empty: the input is left out. */
  fill(wanted: string, input: FillableInput, isRepeated = false): readonly string[] {
    const { value, variables = {} } = input;
    if (value === undefined) return this.#ask(wanted, input, isRepeated);
    const names = [...new Set([...value.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name))];
    const filled = names.flatMap((name) => {
      const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
      return variable === undefined ? [] : [{ name, values: this.#variable(name, variable, isRepeated) }];
    });
    if (filled.some(({ values }) => values.length === 0)) return [];
    const count = Math.max(1, ...filled.map(({ values }) => values.length));
    const byName = new Map(filled.map(({ name, values }) => [name, values]));
    return Array.from({ length: count }, (_, at) =>
      value
        .split(/(\{[^{}]+\})/)
        .map((part) => {
          const values = byName.get(part.slice(1, -1));
          return part.startsWith("{") && values ? (values[at] ?? values[0] ?? "") : escapeDollars(part);
        })
        .join(""),
    );
  }

  get questions(): readonly InputQuestion[] {
    return [...this.#questions.values()];
  }

  /** Names of required inputs without an answer. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  get secrets(): readonly NewSecret[] {
    return this.#secrets;
  }

  /** The answers to keep for a later version: a secret is only named. */
  get given(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#given);
  }

  #variable(name: string, variable: RegistryInput, isRepeated: boolean): readonly string[] {
    return variable.value === undefined ? this.#ask(name, variable, isRepeated) : [escapeDollars(variable.value)];
  }

  #ask(wanted: string, input: RegistryInput, isRepeated: boolean): readonly string[] {
    const name = this.#nameOf(wanted, input);
    const question = toQuestion(name, input, isRepeated);
    this.#questions.set(name, question);
    const answers = this.#answers.get(name)?.filter((answer) => answer !== "") ?? [];
    for (const answer of answers) checkAnswer(question, answer);
    if (answers.length > 0) return answers.map((answer, at) => this.#take(question, answer, at, answers));
    if (input.default !== undefined && input.default !== "") return [escapeDollars(input.default)];
    if (input.isRequired && !this.#missing.includes(name)) this.#missing.push(name);
    return [];
  }

  #take({ name, isSecret }: InputQuestion, answer: string, at: number, all: readonly string[]): string {
    if (!isSecret) {
      this.#given.set(name, all.join("\n"));
      return escapeDollars(answer);
    }
    const isReference = reference.test(answer);
    const secret = this.#secretName(at === 0 ? name : `${name}_${at + 1}`);
    const written = isReference ? answer : `\${secret:${secret}}`;
    if (!isReference && !this.#secrets.some((one) => one.name === secret))
      this.#secrets.push({ name: secret, value: answer });
    this.#given.set(name, at === 0 ? written : `${this.#given.get(name)}\n${written}`);
    return written;
  }

  /** Two inputs of the same name are two questions; the same input is one. */
  #nameOf(wanted: string, input: RegistryInput): string {
    const before = this.#inputs.get(input);
    if (before !== undefined) return before;
    const plain =
      wanted
        .replaceAll(/[^\w.-]+/g, "-")
        .replace(/^-+|-+$/g, "")
        .slice(0, 100) || "input";
    const taken = new Set(this.#inputs.values());
    let name = plain;
    for (let number = 2; taken.has(name); number += 1) name = `${plain}-${number}`;
    this.#inputs.set(input, name);
    return name;
  }
}

function toQuestion(name: string, input: RegistryInput, isRepeated: boolean): InputQuestion {
  const { description, choices, isRequired, isSecret, format, placeholder } = input;
  const other = format === "filepath" ? "file" : format === "string" ? "text" : format;
  return {
    name,
    description,
    kind: choices.length > 0 ? "choice" : other,
    choices,
    isRequired,
    isSecret,
    isRepeated,
    default: input.default,
    placeholder,
  };
}

/** @throws HostError `usage` if the answer does not fit the question */
export function checkAnswer({ name, kind, choices }: InputQuestion, answer: string): void {
  const why = whyUnfit(kind, choices, answer);
  if (why !== undefined) throw new HostError("usage", `the input "${name}" ${why}`);
}

function whyUnfit(kind: InputQuestion["kind"], choices: readonly string[], answer: string): string | undefined {
  // A line break could begin another header.
  if (/[\0\r\n]/.test(answer)) return "contains a line break or a null character";
  if (answer.length > 32_768) return "is longer than 32768 characters";
  if (kind === "choice" && !choices.includes(answer)) return `is none of ${choices.join(", ")}`;
  if (kind === "number" && !/^-?\d+(?:\.\d+)?$/.test(answer)) return "is not a number";
  if (kind === "boolean" && answer !== "true" && answer !== "false") return "is neither true nor false";
  return undefined;
}

/** Writes a text so that a settings file does not expand variables in it. */
export function escapeDollars(text: string): string {
  return text.replaceAll("$", "$$$$");
}
