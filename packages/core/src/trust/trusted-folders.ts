/** Reads and writes the user's trust rules in `trustedFolders.json`. Gemini CLI uses the same file. */

import { realpathSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { HostError } from "../errors.ts";
import { updateText } from "../files/atomic/update-text.ts";
import { removeValue, setValue } from "../files/json/json-edit.ts";
import { type JsoncDocument, type JsoncError, parseJsonc } from "../files/json/jsonc.ts";
import { readText } from "../files/read-text.ts";
import { systemCode } from "../files/system-error.ts";
import { limits } from "../limits.ts";
import type { Origin, Problem } from "../settings/define/definition.ts";
import { propertyNodes, stringNode } from "../settings/read/nodes.ts";

/** The trust levels of folders in `trustedFolders.json`. Gemini CLI uses the same levels. */
export const TrustLevel = {
  TRUST_FOLDER: "TRUST_FOLDER",
  TRUST_PARENT: "TRUST_PARENT",
  DO_NOT_TRUST: "DO_NOT_TRUST",
} as const;
export type TrustLevel = (typeof TrustLevel)[keyof typeof TrustLevel];
const levels = Object.values(TrustLevel);

/** One rule of `trustedFolders.json`, with its position in the file. */
export interface TrustRule {
  /** The path as written in the file. */
  readonly path: string;
  readonly level: TrustLevel;
  readonly origin: Origin;
  /**
   * The real path of the folder. Absent if the rule has no effect: the folder does not exist, or the rule trusts a
   * symbolic link.
   */
  readonly effective?: string;
}

/** The user's trust rules, and the mistakes in their file. */
export interface TrustedFolders {
  readonly rules: readonly TrustRule[];
  readonly problems: readonly Problem[];
}

/** Reads the trust rules. If the file is absent or invalid, there are no rules. */
export async function readTrustedFolders(file: string): Promise<TrustedFolders> {
  const read = await readText(file, limits.settingsBytes);
  switch (read.kind) {
    case "absent":
      return { rules: [], problems: [] };
    case "unreadable":
      return nothingFrom(file, { message: read.reason, line: 1, column: 1 });
    case "text":
      return toRules(file, parseJsonc(read.text));
  }
}

function nothingFrom(file: string, { message, line, column }: JsoncError): TrustedFolders {
  const origin = { scope: "user", file, line, column } as const;
  return { rules: [], problems: [problem(origin, "error", `${file} is invalid and trusts no folder: ${message}`)] };
}

async function toRules(file: string, document: JsoncDocument): Promise<TrustedFolders> {
  const mistake = mistakeIn(document);
  if (mistake !== undefined) return nothingFrom(file, mistake);
  // Reads syntax nodes, because `JSON.parse` would drop all but the last rule for a path.
  const judged = await Promise.all(
    propertyNodes(document.root).map(({ name, key, value }) =>
      toRule(name, stringNode(value), { scope: "user", file, ...document.positionAt(key.offset) }),
    ),
  );
  return { rules: judged.flatMap(({ rules }) => rules), problems: judged.flatMap(({ problems }) => problems) };
}

const trusts = { TRUST_FOLDER: "folder", TRUST_PARENT: "parent", DO_NOT_TRUST: "nothing" } as const;

/**
 * Reads a rule. An unknown level counts as distrust, because a misspelt DO_NOT_TRUST must not leave the folder trusted.
 */
async function toRule(path: string, written: string | undefined, origin: Origin): Promise<TrustedFolders> {
  if (!isAbsolute(path)) {
    const message = `the rule for "${path}" is ignored: the path is not absolute`;
    return { rules: [], problems: [problem(origin, "error", message)] };
  }
  const level = levels.find((each) => each === written) ?? TrustLevel.DO_NOT_TRUST;
  const found = await findRulePath(resolve(path), trusts[level]);
  const rule = { path, level, origin, effective: found.kind === "folder" ? found.real : undefined };
  if (level !== written) {
    const message = `the folder "${path}" is not trusted: its trust level must be one of ${levels.join(", ")}`;
    return { rules: [rule], problems: [problem(origin, "error", message)] };
  }
  if (found.kind === "link") {
    const message = `the rule for "${path}" is ignored: the path is a symbolic link, and trust does not follow links`;
    return { rules: [rule], problems: [problem(origin, "warning", message)] };
  }
  return { rules: [rule], problems: [] };
}

function problem(origin: Origin, severity: Problem["severity"], message: string): Problem {
  return { severity, code: "settings_invalid", message, origin };
}

function mistakeIn({ root, errors }: JsoncDocument): JsoncError | undefined {
  if (errors[0] !== undefined) return errors[0];
  if (root === undefined || root.type === "object") return undefined;
  return { message: "the file must contain an object that maps folders to trust levels", line: 1, column: 1 };
}

/** Replaces all rules for the folder by one rule with the folder's real path. */
export async function setFolderTrust(file: string, folder: string, level: TrustLevel): Promise<void> {
  const real = await realpath(folder).catch((cause: unknown) => {
    throw new HostError("usage", `the folder ${folder} does not exist`, { cause });
  });
  await updateRules(file, folder, (text, spellings) => {
    const isSettled = spellings.length === 1 && spellings[0] === real;
    return setValue(isSettled ? text : removeAll(text, spellings), [real], level);
  });
}

/** Removes the rules for a folder. The folder need not exist. Returns false if there was no rule. */
export async function removeFolderTrust(file: string, folder: string): Promise<boolean> {
  return (await updateRules(file, folder, removeAll)) === "written";
}

/** Changes the file while Fairlead holds the lock that Gemini CLI also uses. Throws if the file is invalid. */
function updateRules(
  file: string,
  folder: string,
  change: (text: string | undefined, spellings: readonly string[]) => string | undefined,
): Promise<"written" | "unchanged"> {
  const changeValid = (text: string | undefined): string | undefined => {
    const document = parseJsonc(text ?? "");
    const mistake = mistakeIn(document);
    if (mistake !== undefined) throw refusal(file, mistake);
    const paths = propertyNodes(document.root).map(({ name }) => name);
    return change(
      text,
      paths.filter((path) => isSameFolder(path, folder)),
    );
  };
  return updateText(file, changeValid, { mode: 0o600 });
}

function refusal(file: string, { message, line, column }: JsoncError): HostError {
  return new HostError("settings_invalid", `${file}:${line}:${column}: ${message}; the file was not changed`, {
    next: `Correct the mistake in ${file}, then try again.`,
  });
}

function removeAll(text: string | undefined, paths: readonly string[]): string | undefined {
  return paths.reduce((rest, path) => rest && removeValue(rest, [path]), text);
}

function isSameFolder(path: string, folder: string): boolean {
  return isAbsolute(path) && (resolve(path) === resolve(folder) || realOrWritten(path) === realOrWritten(folder));
}

function realOrWritten(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
}

/** The kind of path in a trust rule. `gone`: no readable folder. `link`: a symbolic link. */
type RulePath = { readonly kind: "folder"; readonly real: string } | { readonly kind: "gone" | "link" };

/**
 * Finds the real folder of a rule. Does not follow a link that a rule trusts, because the creator of the link could
 * choose the trusted folder.
 */
export async function findRulePath(path: string, trusts: "folder" | "parent" | "nothing"): Promise<RulePath> {
  switch (trusts) {
    case "nothing":
      return realPath(path);
    case "folder":
      return ownPath(path);
    case "parent": {
      const child = await ownPath(path);
      return child.kind === "link" ? child : ownPath(dirname(path));
    }
  }
}

/** Resolves symbolic links in the parent folders of the path. Does not follow a link at the path itself. */
async function ownPath(path: string): Promise<RulePath> {
  const parent = await realPath(dirname(path));
  if (parent.kind !== "folder") return parent;
  const real = join(parent.real, basename(path));
  const found = await reach(lstat(real));
  if (found === undefined) return { kind: "gone" };
  return found.isSymbolicLink() ? { kind: "link" } : { kind: "folder", real };
}

async function realPath(path: string): Promise<RulePath> {
  const real = await reach(realpath(path));
  return real === undefined ? { kind: "gone" } : { kind: "folder", real };
}

/** Returns undefined after a file system error. Rethrows other errors. */
async function reach<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (systemCode(error) !== undefined) return undefined;
    throw error;
  }
}
