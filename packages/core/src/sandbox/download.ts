/** Finds the package or image that a command line downloads before it runs it: `npx`, `uvx`, `docker run` and the like. */

type Source = "npm" | "PyPI" | "an image registry";

/** A program that downloads a package or an image and runs it. */
interface Runner {
  /** Words between the program's name and the package, such as `tool run`. */
  readonly verb?: readonly string[];
  readonly from: Source;
  /** Options whose value is the package. */
  readonly packageOptions?: readonly string[];
  /** Options that take the next word as their value. */
  readonly valueOptions?: readonly string[];
  readonly isPinned: (name: string) => boolean;
}

const exactNpm = (name: string): boolean => /.@\d+\.\d+\.\d+[\w.+-]*$/.test(name);
const exactPython = (name: string): boolean => /(==|@)v?\d+(\.\d+)+[\w.+-]*$|@[0-9a-f]{40}$/.test(name);
// A tag can be moved to another image, but a digest cannot.
const exactImage = (name: string): boolean => /@sha256:[0-9a-f]{64}$/.test(name);

const npm: Omit<Runner, "verb"> = {
  from: "npm",
  packageOptions: ["-p", "--package"],
  valueOptions: ["-c", "--call", "-w", "--workspace", "--registry", "--prefix"],
  isPinned: exactNpm,
};
const python: Omit<Runner, "verb"> = {
  from: "PyPI",
  packageOptions: ["--from", "--spec"],
  valueOptions: ["--with", "--python", "-p", "--index", "--index-url", "--default-index", "--directory", "--env-file"],
  isPinned: exactPython,
};
const image: Omit<Runner, "verb"> = {
  from: "an image registry",
  valueOptions:
    "-e --env --env-file -v --volume --mount -p --publish --name --network --net -w --workdir -u --user --entrypoint -l --label --add-host --pull --platform --memory -m --cpus --gpus -h --hostname --device --cap-add --cap-drop --security-opt --tmpfs --ulimit --dns --ipc --pid --restart --runtime --shm-size".split(
      " ",
    ),
  isPinned: exactImage,
};

const runners: ReadonlyMap<string, readonly Runner[]> = new Map([
  ["npx", [npm]],
  [
    "npm",
    [
      { ...npm, verb: ["exec"] },
      { ...npm, verb: ["x"] },
    ],
  ],
  ["pnpx", [npm]],
  ["pnpm", [{ ...npm, verb: ["dlx"] }]],
  ["yarn", [{ ...npm, verb: ["dlx"] }]],
  ["bunx", [npm]],
  ["bun", [{ ...npm, verb: ["x"] }]],
  ["uvx", [python]],
  ["uv", [{ ...python, verb: ["tool", "run"] }]],
  ["pipx", [{ ...python, verb: ["run"] }]],
  [
    "docker",
    [
      { ...image, verb: ["run"] },
      { ...image, verb: ["container", "run"] },
    ],
  ],
  [
    "podman",
    [
      { ...image, verb: ["run"] },
      { ...image, verb: ["container", "run"] },
    ],
  ],
]);

const longestName = 400;

/** A package or an image that a command line downloads. `pinned`: whether its version is exact. */
export interface Download {
  readonly name: string;
  readonly from: Source;
  readonly pinned: boolean;
  /** The program that downloads the package, as written in the entry. */
  readonly launcher: string;
  /** Index of the argument that names the package. In `--package=NAME`, the name is at the end of that argument. */
  readonly at: number;
}

/** Returns the package or image that a command line downloads and runs. Returns undefined if it downloads nothing. */
export function findDownload(command: string, args: readonly string[]): Download | undefined {
  const program = programName(command);
  // On Windows, entries often start npx or uvx through `cmd /c`.
  if (program === "cmd" && /^\/c$/i.test(args[0] ?? "")) return findBehind(args, 1);
  if (program === "env") {
    return findBehind(
      args,
      args.findIndex((word) => !word.includes("=") && !word.startsWith("-")),
    );
  }
  for (const runner of runners.get(program) ?? []) {
    const verb = runner.verb ?? [];
    if (!verb.every((word, at) => args[at] === word)) continue;
    const { name, at } = packageOf(args, verb.length, runner);
    if (name === undefined || /^[./~]/.test(name)) continue;
    // No package has such a long name. The limit keeps the pattern match fast.
    const pinned = name.length <= longestName && runner.isPinned(name);
    return { name, from: runner.from, pinned, launcher: command, at };
  }
  return undefined;
}

/** Does the same as `findDownload`, for a command that begins at the argument `start`. */
function findBehind(args: readonly string[], start: number): Download | undefined {
  const command = args[start];
  const found = command === undefined ? undefined : findDownload(command, args.slice(start + 1));
  return found && { ...found, at: start + 1 + found.at };
}

function packageOf(words: readonly string[], start: number, runner: Runner): { name?: string | undefined; at: number } {
  for (let at = start; at < words.length; at += 1) {
    const [option, value] = split(words[at] ?? "");
    if (runner.packageOptions?.includes(option))
      return value === undefined ? following(words, at) : { name: value, at };
    if (option === "--") return following(words, at);
    if (!option.startsWith("-")) return { name: option, at };
    if (value === undefined && runner.valueOptions?.includes(option)) at += 1;
  }
  return { at: words.length };
}

function following(words: readonly string[], at: number): { name: string | undefined; at: number } {
  return { name: words[at + 1], at: at + 1 };
}

function split(word: string): [string, string?] {
  const at = word.startsWith("--") ? word.indexOf("=") : -1;
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

/** `npx` of `/usr/bin/npx` and `npx.cmd`. */
export function programName(command: string): string {
  const last = command.split(/[/\\]/).at(-1) ?? "";
  return last.replace(/\.(cmd|exe|bat|ps1)$/i, "").toLowerCase();
}
