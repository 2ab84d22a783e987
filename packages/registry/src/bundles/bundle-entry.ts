/**
 * Turns a bundle and the user's answers into an entry of the settings. Only the variables that bundles know are replaced;
 * every other dollar sign of the bundle is written as `$$`, so that it never stands for a variable of the settings.
 */

import { stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve, sep } from "node:path";
import { unless } from "@fairlead/core/files";
import type { NewSecret } from "../registry/inputs.ts";
import type { BundleCommand, BundleInput, BundleManifest } from "./manifest.ts";
import { isInRange } from "./version-range.ts";
import { BundleRefusal, whyNotPath } from "./zip.ts";

/** The user's answers by the key of the input. Inputs without an answer are absent. */
export type BundleAnswers = ReadonlyMap<string, readonly string[]>;

/** What an entry depends on besides the bundle. */
export interface BundleTarget {
  /** The folder of the unpacked bundle. */
  readonly folder: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** The Node that runs Fairlead. Undefined in the single executable, which is no Node for other programs. */
  readonly node: { readonly file: string; readonly version: string } | undefined;
  /** Whether the bundle contains the file. */
  readonly hasFile: (path: string) => boolean;
  /** The name of the stored secret for an input. */
  readonly secretName: (key: string) => string;
}

/** A bundle's server as an entry of the settings. */
export interface BundleEntry {
  readonly entry: {
    readonly command: string;
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
    readonly description?: string;
  };
  /** The files and folders of the answers. Its own folder is the first. */
  readonly read: readonly string[];
  /** To be stored before the entry is written. */
  readonly secrets: readonly NewSecret[];
  /** What a person should know before the yes. */
  readonly notes: readonly string[];
}

/** Why the bundle cannot run here. Undefined if it can. */
export function whyNotHere({ platforms }: BundleManifest, platform: NodeJS.Platform): string | undefined {
  if (platforms === undefined || platforms.includes(platform)) return undefined;
  return `it runs only on ${platforms.join(", ")}, and this system is ${platform}`;
}

/**
 * Checks the answers to one input, and returns them in the form that the program gets: absolute paths, `true` or `false`.
 *
 * @throws BundleRefusal with a message that follows the title of the input
 */
export async function checkAnswers(
  { type, isMultiple, min, max }: BundleInput,
  given: readonly string[],
  home: string,
  cwd: string,
): Promise<readonly string[]> {
  if (given.length > 1 && !isMultiple) throw new BundleRefusal("takes one value");
  return Promise.all(
    given.map(async (value) => {
      if (value.includes("\0") || value.length > 65_536) throw new BundleRefusal("is not a text");
      switch (type) {
        case "string":
          return value;
        case "boolean":
          if (/^(?:true|yes|y)$/i.test(value)) return "true";
          if (/^(?:false|no|n)$/i.test(value)) return "false";
          throw new BundleRefusal("is neither true nor false");
        case "number": {
          const number = Number(value);
          if (value.trim() === "" || !Number.isFinite(number)) throw new BundleRefusal("is not a number");
          if (min !== undefined && number < min) throw new BundleRefusal(`is less than ${min}`);
          if (max !== undefined && number > max) throw new BundleRefusal(`is more than ${max}`);
          return String(number);
        }
        case "file":
        case "directory": {
          const path = resolve(
            cwd,
            value.replace(/^~(?=$|[/\\])/, () => home),
          );
          const found = await stat(path).catch(unless("ENOENT", "ENOTDIR", "EACCES"));
          const isRight = type === "file" ? found?.isFile() : found?.isDirectory();
          if (isRight === true) return path;
          throw new BundleRefusal(`${path} is not a ${type === "file" ? "file" : "folder"} that exists`);
        }
      }
    }),
  );
}

/** The answers that an input has without the user: its default, with the variables of folders filled in. */
export function defaultAnswers({ defaults }: BundleInput, { home }: Pick<BundleTarget, "home">): readonly string[] {
  const folders = folderVariables(home);
  return defaults.map((text) => text.replaceAll(reference, (written, name: string) => folders.get(name) ?? written));
}

/**
 * Returns the entry of a bundle's server. Every required input needs an answer before.
 *
 * @throws BundleRefusal if a path leads out of the bundle
 */
export function bundleEntry(manifest: BundleManifest, answers: BundleAnswers, target: BundleTarget): BundleEntry {
  const { folder, home, platform, hasFile } = target;
  const notes: string[] = [];
  const chosen = startCommand(manifest, target);
  const fixed = new Map([...folderVariables(home), ["__dirname", folder]]);
  const inputs = new Map(manifest.inputs.map((input) => [input.key, input]));

  /** The values that a reference stands for. Undefined for a reference that bundles do not know. */
  const valuesOf = (name: string): readonly string[] | undefined => {
    const text = fixed.get(name);
    if (text !== undefined) return [escapeDollars(text)];
    if (!name.startsWith("user_config.")) return undefined;
    const input = inputs.get(name.slice("user_config.".length));
    if (input === undefined) return undefined;
    const given = answers.get(input.key) ?? [];
    return input.isSensitive && given.length > 0
      ? [`\${secret:${target.secretName(input.key)}}`]
      : given.map(escapeDollars);
  };
  const expand = (text: string): string => {
    let end = 0;
    let expanded = "";
    for (const match of text.matchAll(reference)) {
      const values = valuesOf(match[1] ?? "");
      expanded += escapeDollars(text.slice(end, match.index));
      expanded += values === undefined ? escapeDollars(match[0]) : values.join(delimiter);
      end = match.index + match[0].length;
    }
    return expanded + escapeDollars(text.slice(end));
  };
  /** A word that is only a reference becomes one argument for each value, and none without a value. */
  const toWords = (text: string): readonly string[] => {
    const whole = /^\$\{([^}]*)\}$/.exec(text)?.[1];
    return (whole === undefined ? undefined : valuesOf(whole)) ?? [expand(text)];
  };

  const command = ownCommand(chosen.command, manifest, target, notes) ?? expand(commandPath(chosen.command, target));
  const args = chosen.args.flatMap(toWords);
  const env = Object.entries(chosen.env).flatMap(([name, text]) => {
    const words = toWords(text);
    return words.length === 0 ? [] : [[name, words.join(delimiter)]];
  });
  if (/^(?:npx|uvx|uv|docker|bunx|pnpm|yarn)(?:\.cmd|\.exe)?$/.test(chosen.command))
    notes.push(`it starts ${chosen.command}, which may download more than the bundle contains`);
  if (manifest.pythonRange !== undefined) notes.push(`it needs Python ${manifest.pythonRange}`);
  // A relative path of a bundle begins at its folder.
  const usesFolder = chosen.args.some((arg) => !isAbsolute(arg) && whyNotPath(arg) === undefined && hasFile(arg));
  const paths = manifest.inputs.filter(({ type }) => type === "file" || type === "directory");
  return {
    entry: {
      command,
      args,
      ...(env.length > 0 && { env: Object.fromEntries(env) as Record<string, string> }),
      ...(usesFolder && { cwd: escapeDollars(folder) }),
    },
    read: [folder, ...paths.flatMap(({ key }) => answers.get(key) ?? [])],
    secrets: manifest.inputs.flatMap(({ key, isSensitive }) => {
      const [value] = answers.get(key) ?? [];
      return isSensitive && value !== undefined ? [{ name: target.secretName(key), value }] : [];
    }),
    notes: platform === "win32" ? [...notes, "on Windows, bundles are not tested yet"] : notes,
  };
}

const reference = /\$\{([^}]*)\}/g;

function folderVariables(home: string): ReadonlyMap<string, string> {
  return new Map([
    ["HOME", home],
    ["DESKTOP", join(home, "Desktop")],
    ["DOCUMENTS", join(home, "Documents")],
    ["DOWNLOADS", join(home, "Downloads")],
    ["pathSeparator", sep],
    ["/", sep],
  ]);
}

/** In settings, `$$` stands for a dollar sign. */
function escapeDollars(text: string): string {
  return text.replaceAll("$", () => "$$");
}

/** The command of this system. Without one, the kind of the server says it. */
function startCommand(
  { command, overrides, kind, entryPoint }: BundleManifest,
  { platform }: Pick<BundleTarget, "platform">,
): BundleCommand {
  const script = `\${__dirname}/${entryPoint}`;
  const usual: Record<BundleManifest["kind"], BundleCommand> = {
    node: { command: "node", args: [script], env: {} },
    python: { command: "python", args: [script], env: {} },
    binary: { command: script, args: [], env: {} },
    uv: { command: "uv", args: ["run", "--directory", "${__dirname}", entryPoint], env: {} },
  };
  return { ...(command ?? usual[kind]), ...overrides.get(platform) };
}

/** Programs that Fairlead finds itself: its own Node, and Python by the name that it has here. */
function ownCommand(
  command: string,
  { nodeRange }: BundleManifest,
  { node, platform }: BundleTarget,
  notes: string[],
): string | undefined {
  if (command === "python" && platform !== "win32") return "python3";
  if (command !== "node") return undefined;
  if (node !== undefined && (nodeRange === undefined || isInRange(node.version, nodeRange)))
    return escapeDollars(node.file);
  if (nodeRange !== undefined)
    notes.push(`it needs Node ${nodeRange}${node === undefined ? "" : `, and Fairlead runs on ${node.version}`}`);
  return undefined;
}

/** A relative path of a bundle begins at its folder. On Windows, programs end with `.exe`. */
function commandPath(command: string, { folder, platform, hasFile }: BundleTarget): string {
  const inBundle = command.replace(/^\$\{__dirname\}[/\\]/, "").replace(/^\.[/\\]/, "");
  if (inBundle === command && (isAbsolute(command) || !/[/\\]/.test(command))) return command;
  if (/^\$\{(?!__dirname)/.test(command)) return command;
  const why = whyNotPath(inBundle);
  if (why !== undefined) throw new BundleRefusal(`its command "${command}" ${why}`);
  const isProgram = platform === "win32" && !hasFile(inBundle) && hasFile(`${inBundle}.exe`);
  if (!hasFile(inBundle) && !isProgram) throw new BundleRefusal(`its command "${command}" is not a file of the bundle`);
  return join(folder, ...inBundle.split("/")) + (isProgram ? ".exe" : "");
}
