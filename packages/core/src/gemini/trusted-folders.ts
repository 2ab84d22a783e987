/** Which folders the person trusts, for programs that make a `Config` without a host. */

import { aName, expectArguments, type Wanted } from "../expect-arguments.ts";
import { realPathOf } from "../files/real-path.ts";
import { createIdeTrust } from "../ide/ide-trust.ts";
import { type Environment, locate } from "../settings/read/paths.ts";
import { loadConfiguration } from "../trust/configuration.ts";
import { strongestRule } from "../trust/trust-decision.ts";
import { readTrustedFolders, setFolderTrust, TrustLevel, type TrustRule } from "../trust/trusted-folders.ts";
import { anEnvironment, processEnvironment } from "./open-entry.ts";

const aLevel = {
  words: `one of ${Object.values(TrustLevel).join(", ")}`,
  accepts: (given: unknown) => Object.values<unknown>(TrustLevel).includes(given),
};

const someRules: Wanted = {
  words: "a list of rules",
  accepts: (given) =>
    Array.isArray(given) && given.every((rule) => aName.accepts(rule.path) && aLevel.accepts(rule.level)),
};

/** The rules of `trustedFolders.json`, the file that Gemini CLI uses too. */
export class LoadedTrustedFolders {
  readonly #file: string;
  #rules: readonly TrustRule[];

  /** Use `loadTrustedFolders`. */
  constructor(file: string, rules: readonly TrustRule[]) {
    expectArguments("new LoadedTrustedFolders()", { file: [file, aName], rules: [rules, someRules] });
    this.#file = file;
    this.#rules = rules;
  }

  get rules(): readonly { readonly path: string; readonly trustLevel: TrustLevel }[] {
    return this.#rules.map(({ path, level: trustLevel }) => ({ path, trustLevel }));
  }

  /** Whether a folder is trusted: the rule of the nearest folder counts. Undefined if no rule is about the folder. */
  async isPathTrusted(path: string): Promise<boolean | undefined> {
    expectArguments("isPathTrusted()", { path: [path, aName] });
    const rule = strongestRule(this.#rules, await realPathOf(path));
    return rule && rule.level !== TrustLevel.DO_NOT_TRUST;
  }

  /** Replaces the rules about this folder, also in the file. @throws HostError `usage`, `settings_invalid` */
  async setValue(path: string, trustLevel: TrustLevel): Promise<void> {
    expectArguments("setValue()", { path: [path, aName], trustLevel: [trustLevel, aLevel] });
    await setFolderTrust(this.#file, path, trustLevel);
    this.#rules = (await readTrustedFolders(this.#file)).rules;
  }
}

/**
 * Reads the rules of this user. A file that is absent or invalid has none.
 *
 * @param environment The variables and folders. Default: those of the process.
 */
export async function loadTrustedFolders(
  environment: Environment = processEnvironment(),
): Promise<LoadedTrustedFolders> {
  expectArguments("loadTrustedFolders()", { environment: [environment, anEnvironment] });
  const { trustedFolders } = await locate({ environment });
  return new LoadedTrustedFolders(trustedFolders, (await readTrustedFolders(trustedFolders)).rules);
}

/**
 * Whether a workspace is trusted, by everything that a host asks too: variables, settings, the IDE, and
 * `trustedFolders.json`.
 *
 * @param folder A folder of the workspace. Default: the current folder.
 * @param environment The variables and folders. Default: those of the process.
 */
export async function isWorkspaceTrusted(
  folder: string = process.cwd(),
  environment: Environment = processEnvironment(),
): Promise<boolean> {
  expectArguments("isWorkspaceTrusted()", { folder: [folder, aName], environment: [environment, anEnvironment] });
  const ide = createIdeTrust({ environment });
  try {
    return (await loadConfiguration({ environment: { ...environment, cwd: folder }, ide })).trust.trusted;
  } finally {
    await ide.close();
  }
}
