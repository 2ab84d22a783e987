/** Reads and converts the keys of another program's entry, and lists the keys that were not read. */

import { posix, win32 } from "node:path";
import { longestTime } from "@fairlead/core/settings";
import { clients } from "../clients/client.ts";
import { foreignFields } from "./foreign-file.ts";
import { type Program, programs, type ReferenceForm, type Remark } from "./program.ts";

/** Reads the keys of one entry, and remembers which keys it has read. Adds its remarks to `remarks`. */
export class FieldReader {
  readonly #fields: ReadonlyMap<string, unknown>;
  readonly #context: ReferenceContext;
  readonly #remarks: Remark[];
  readonly #read = new Set<string>();

  constructor(fields: ReadonlyMap<string, unknown>, context: ReferenceContext, remarks: Remark[]) {
    this.#fields = fields;
    this.#context = context;
    this.#remarks = remarks;
  }

  /** Whether the key has a value other than `null`. */
  has(key: string): boolean {
    return this.peek(key) !== undefined;
  }

  /** The value of the key, as written. */
  raw(key: string): unknown {
    this.#read.add(key);
    return this.peek(key);
  }

  /** Like `raw`, but the key does not count as read. */
  peek(key: string): unknown {
    return this.#fields.get(key) ?? undefined;
  }

  text(key: string): string | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    return typeof value === "string" ? this.convert(value, key) : this.refuse(key, "is not a string");
  }

  texts(key: string): readonly string[] | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return this.refuse(key, "is not a list");
    return value.flatMap((one: unknown, at) => this.#item(one, `${key}[${at}]`) ?? []);
  }

  table(key: string): ReadonlyMap<string, string> | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    const entries = foreignFields(value);
    if (!entries) return this.refuse(key, "is not an object");
    const table = new Map<string, string>();
    for (const [name, one] of entries) {
      const where = `${key}.${name}`;
      const text = one === null ? undefined : this.#item(one, where);
      if (one === null)
        this.remark("dropped", where, "the value is null; Fairlead can set a value, but cannot remove one");
      if (text !== undefined) table.set(name, text);
    }
    return table;
  }

  /** A list of names. Names contain no references, so they are not converted. */
  names(key: string): readonly string[] | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    const isList = Array.isArray(value) && value.every((one): one is string => typeof one === "string");
    return isList ? value : this.refuse(key, "is not a list of names");
  }

  convert(text: string, key: string): string {
    return convertReferences(text, key, this.#context, (one) => this.#remarks.push(one));
  }

  /** The keys that were not read. */
  rest(): readonly string[] {
    return [...this.#fields.keys()].filter((key) => !this.#read.has(key));
  }

  remark(kind: Remark["kind"], key: string, message: string, next?: string): void {
    this.#remarks.push({ kind, key, message, next });
  }

  /** Reports that the key cannot be converted. Returns undefined. */
  refuse(key: string, message: string): undefined {
    this.remark("obstacle", key, message);
    return undefined;
  }

  /** Converts numbers and booleans to text, as Fairlead does for its own settings. */
  #item(value: unknown, key: string): string | undefined {
    if (typeof value === "string") return this.convert(value, key);
    const isPlain = typeof value === "number" || typeof value === "boolean";
    return isPlain ? String(value) : this.refuse(key, "is not a string");
  }
}

/** The other program, the folders and the target file's scope, which decide how an entry is converted. */
export interface ConversionContext extends ReferenceContext {
  /** The scope of the new entry, which decides where its relative paths start. */
  readonly target: "user" | "workspace";
}

/** The new entry while it is being built. It is a `Map`, because another program's key may be named `__proto__`. */
export type EntryDraft = Map<string, unknown>;

/** The transport of an entry. `url` means that Fairlead tries HTTP, then SSE. */
export type TransportKind = "stdio" | "http" | "sse" | "url";

/** Writes `timeout` in milliseconds into the new entry. Limits it to the longest time that Fairlead allows. */
export function convertTimeout(
  reader: FieldReader,
  draft: EntryDraft,
  key: string,
  unit: "milliseconds" | "seconds",
): void {
  const value = reader.raw(key);
  if (typeof value === "number" && value > 0) {
    const timeout = Math.min(Math.max(Math.round(unit === "seconds" ? value * 1000 : value), 1), longestTime);
    draft.set("timeout", timeout);
    if (unit === "seconds") reader.remark("converted", key, `becomes timeout, in milliseconds: ${timeout}`);
  } else if (value !== undefined) reader.remark("dropped", key, "is not a positive number");
}

/**
 * Converts the new entry from a `Map` to an object. Uses `Object.fromEntries`, because a key may be named `__proto__`,
 * and an assignment to that key would set the prototype.
 */
export function toEntry(draft: EntryDraft): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...draft].map(([key, value]) => [key, value instanceof Map ? Object.fromEntries(value) : value]),
  );
}

// Converts another program's references, such as `${env:NAME}`, to the form of Fairlead's settings. Writes every
// other dollar sign as `$$`.

/** What the values of references depend on: the program, the platform and the folders. */
interface ReferenceContext {
  readonly program: Program;
  readonly platform: NodeJS.Platform;
  /** The workspace root, which `${PWD}` stands for in settings. */
  readonly root: string;
  /** The project folder of the imported file. */
  readonly folder?: string;
  /** The descriptions of VS Code's inputs (`${input:ID}`), by ID. */
  readonly inputs: ReadonlyMap<string, string>;
}

// Matches each dollar sign, either as the start of a reference or as plain text.
const dollar = /\$\{([^}]*)\}|\$/g;
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether a text can be the name in `${NAME}`: letters, digits and underscores, no digit first. */
export function isVariableName(text: string): boolean {
  return variableName.test(text);
}

/** Writes each `$` as `$$`, so that Fairlead does not expand it. */
export function literal(text: string): string {
  return text.replaceAll("$", "$$$$");
}

/**
 * Returns the text in the form of Fairlead's settings. Reports references that change or cannot be converted with
 * `remark`.
 */
export function convertReferences(
  text: string,
  key: string,
  context: ReferenceContext,
  remark: (remark: Remark) => void,
): string {
  const { title } = clients[context.program];
  const { references } = programs[context.program];
  return text.replaceAll(dollar, (written: string, body: string | undefined) => {
    if (body === undefined) return "$$";
    const form = formOf(body, references);
    if (form === undefined) {
      const message = `${title} does not expand ${written}, so it stays plain text: ${literal(written)}`;
      remark({ kind: "converted", key, message });
      return literal(written);
    }
    const outcome = convert(form, body, context);
    if ("obstacle" in outcome) {
      remark({ kind: "obstacle", key, message: `${written} ${outcome.obstacle}` });
      return literal(written);
    }
    if (outcome.text !== written) remark({ kind: "converted", key, message: `${written} becomes ${outcome.text}` });
    if (outcome.hint) remark({ ...outcome.hint, kind: "hint", key });
    return outcome.text;
  });
}

function formOf(body: string, forms: ReadonlySet<ReferenceForm>): ReferenceForm | undefined {
  if (forms.has("variable")) return isVariableName(body.split(":-", 1)[0] ?? "") ? "variable" : undefined;
  const form = namedForm(body);
  return form !== undefined && forms.has(form) ? form : undefined;
}

function namedForm(body: string): ReferenceForm | undefined {
  if (body === "/") return "pathSeparator";
  if (body === "userHome" || body === "workspaceFolder" || body === "pathSeparator") return body;
  if (body.startsWith("env:")) return "env";
  if (body.startsWith("input:")) return "input";
  const isForeign =
    /^(file|config|command|workspaceFolder):/.test(body) || body === "workspaceFolderBasename" || body === "cwd";
  return isForeign ? "foreign" : undefined;
}

type Outcome =
  | { readonly text: string; readonly hint?: Pick<Remark, "message" | "next"> }
  | { readonly obstacle: string };

function convert(form: ReferenceForm, body: string, context: ReferenceContext): Outcome {
  switch (form) {
    case "variable":
      return body.includes("${")
        ? { obstacle: "has a default value with a variable, which Fairlead does not expand" }
        : { text: `\${${body}}` };
    case "env":
      return fromEnvironment(body.slice("env:".length));
    case "userHome":
      return { text: context.platform === "win32" ? "${USERPROFILE}" : "${HOME}" };
    case "workspaceFolder":
      // No variable stands for the folder of another project, so Fairlead writes its path.
      return { text: (context.folder ?? context.root) === context.root ? "${PWD}" : literal(context.folder ?? "") };
    case "pathSeparator":
      return { text: context.platform === "win32" ? win32.sep : posix.sep };
    case "input":
      return fromInput(body.slice("input:".length), context.inputs);
    case "foreign":
      return {
        obstacle: "is a reference that Fairlead does not support: write the value itself, or an environment variable",
      };
  }
}

function fromEnvironment(name: string): Outcome {
  return isVariableName(name)
    ? { text: `\${${name}}` }
    : { obstacle: "contains no valid variable name (letters, digits and underscores only)" };
}

function fromInput(id: string, inputs: ReadonlyMap<string, string>): Outcome {
  // Keeps only characters that the secret store allows in names.
  const name = id
    .replaceAll(/[^A-Za-z0-9_.-]/g, "_")
    .replace(/^(?=[.-])/, "_")
    .slice(0, 128);
  if (name === "") return { obstacle: "has no name" };
  const description = inputs.get(id);
  const asked = description ? `VS Code asks for this value ("${description}")` : "VS Code asks for this value";
  return {
    text: `\${secret:${name}}`,
    hint: {
      message: `${asked}; Fairlead uses the stored secret ${name} instead. If a secret with that name is already stored, this server will get that secret`,
      next: `fairlead secret set ${name}`,
    },
  };
}

/**
 * Replaces the references in a path by their values. With an unknown reference, which stays as written, no file is
 * found.
 */
export function resolveVariableReferences(
  text: string,
  values: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly home: string;
    readonly folder: string;
  },
): string {
  return text.replaceAll(/\$\{([^}]*)\}/g, (written: string, body: string) => {
    if (body === "workspaceFolder") return values.folder;
    if (body === "userHome") return values.home;
    return body.startsWith("env:") ? (values.env[body.slice("env:".length)] ?? "") : written;
  });
}
