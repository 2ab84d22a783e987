/** What a command such as `npx` or `uvx` fetches and runs. Pure. */

import { findDownload, programName } from "./download.ts";

/** A program in a package of a registry. */
export interface PackageCommand {
  readonly from: "npm" | "PyPI";
  /** The packages to install, as their registry's installer takes them: `name@range`, `name==version`. The first is the program's. */
  readonly packages: readonly string[];
  /** The name of the program. Absent if it is the package's own. */
  readonly program?: string;
  readonly args: readonly string[];
  /** Words for the installer: the registry, or the version of Python. */
  readonly options: readonly string[];
  /** A registry that the entry names. */
  readonly registry?: string;
}

/** Why a command cannot be fetched before it runs in a sandbox. */
export interface NotFetchable {
  readonly why: string;
}

const verbs = /^(?:npm (?:exec|x)|pnpm dlx|yarn dlx|bun x|uv tool run)(?= |$)/;
const npmName = /^(?:@[\w.~-]+\/)?[\w.~-]+(?:@[\w.~^*<>=| +-]+)?$/;
const pythonName = /^[A-Za-z0-9][\w.-]*(?:\[[\w,.-]*\])?(?:[<>=!~@][\w.,<>=!~*+ -]*)?$/;
const takesValue = new Set(["-w", "--workspace", "--prefix", "--loglevel", "--directory", "--env-file", "--cache"]);

/** Reads a command line. Undefined if it fetches nothing. */
export function packageCommand(command: string, args: readonly string[]): PackageCommand | NotFetchable | undefined {
  const download = findDownload(command, args);
  if (download === undefined) return undefined;
  if (download.from === "an image registry") return { why: "it runs a container, which is a box of its own" };
  const name = programName(command);
  if (name === "cmd" || name === "env") return { why: `it is started through ${name}` };
  if (name === "pipx") return { why: "Fairlead fetches Python packages with uv: write uvx in place of pipx run" };
  const verb = verbs.exec([name, ...args].join(" "))?.[0];
  const words = args.slice(verb === undefined ? 0 : verb.split(" ").length - 1);
  return download.from === "npm" ? npmCommand(words, name === "npm") : pythonCommand(words);
}

function npmCommand(words: readonly string[], isNpm: boolean): PackageCommand | NotFetchable {
  const packages: string[] = [];
  let registry: string | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const { option, value, size } = optionAt(words, at);
    if (option === "-c" || option === "--call") return { why: "it runs a shell command with --call" };
    if (option === "-p" || option === "--package") packages.push(value ?? "");
    else if (option === "--registry") registry = value;
    else if (option !== undefined && !takesValue.has(option)) continue;
    if (option !== undefined) {
      at += size - 1;
      continue;
    }
    const word = words[at] ?? "";
    if (word === "--") continue;
    const rest = words.slice(at + 1);
    const args = isNpm && rest[0] === "--" ? rest.slice(1) : rest;
    const named = packages.length > 0 ? { packages, program: word } : { packages: [word] };
    const wrong = named.packages.find((one) => !npmName.test(one));
    if (wrong !== undefined) return { why: `${wrong} is not a package of a registry` };
    return { from: "npm", ...named, args, options: [], ...(registry !== undefined && { registry }) };
  }
  return { why: "it names no program" };
}

const pythonValues = ["--from", "--with", "--python", "-p", "--index", "--index-url", "--default-index", "-i"];

function pythonCommand(words: readonly string[]): PackageCommand | NotFetchable {
  let from: string | undefined;
  let registry: string | undefined;
  const packages: string[] = [];
  const options: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const { option, value = "", size } = optionAt(words, at);
    if (option !== undefined && pythonValues.includes(option)) {
      at += size - 1;
      if (option === "--from") from = value;
      else if (option === "--with") packages.push(value);
      else if (option === "--python" || option === "-p") options.push("--python", value);
      else {
        registry = value;
        options.push("--default-index", value);
      }
      continue;
    }
    if (option !== undefined) {
      if (takesValue.has(option)) at += size - 1;
      continue;
    }
    const word = words[at] ?? "";
    if (word === "--") continue;
    const [, bare = word, version] = /^([^@[]+(?:\[[^\]]*\])?)(?:@(.+))?$/.exec(word) ?? [];
    const own = from ?? (version === undefined || version === "latest" ? bare : `${bare}==${version}`);
    const wrong = [own, ...packages].find((one) => !pythonName.test(one));
    if (wrong !== undefined) return { why: `${wrong} is not a package of a registry` };
    return {
      from: "PyPI",
      packages: [own, ...packages],
      program: bare.replace(/\[.*$/, ""),
      args: words.slice(at + 1),
      options,
      ...(registry !== undefined && { registry }),
    };
  }
  return { why: "it names no program" };
}

/** The option at a position, with its value: `--name=value` is one word, `--name value` are two. */
function optionAt(
  words: readonly string[],
  at: number,
): { readonly option?: string; readonly value?: string | undefined; readonly size: number } {
  const word = words[at] ?? "";
  if (!word.startsWith("-") || word === "--" || word === "-") return { size: 1 };
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  if (equals >= 0) return { option: word.slice(0, equals), value: word.slice(equals + 1), size: 1 };
  return { option: word, value: words[at + 1], size: 2 };
}
