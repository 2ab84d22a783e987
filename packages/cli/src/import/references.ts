/**
 * Converts another program's references, such as `${env:NAME}`, to the form of Fairlead's settings. Writes every other
 * dollar sign as `$$`.
 */

import { posix, win32 } from "node:path";
import { type Program, programs, type ReferenceForm, type Remark } from "./program.ts";

/** What the values of references depend on: the program, the platform and the folders. */
export interface ReferenceContext {
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
  const { title, references } = programs[context.program];
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
