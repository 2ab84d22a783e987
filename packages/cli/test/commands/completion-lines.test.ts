import { expect, test } from "vitest";
import type { Shell } from "../../src/completion/scripts.ts";
import { type Machine, machine } from "../support/machine.ts";

const files: Readonly<Record<Shell, string>> = {
  bash: "/home/.local/share/bash-completion/completions/fairlead",
  zsh: "/home/.local/share/zsh/site-functions/_fairlead",
  fish: "/home/.config/fish/completions/fairlead.fish",
};
const tryIt = 'To try completion, open a new shell, type "fairlead call demo." and press Tab.\n';
const bashHint = `bash needs the package bash-completion; without it, add to ~/.bashrc: source ${files.bash}\n`;

async function completion(
  here: Machine,
  env: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<readonly [stdout: string, stderr: string]> {
  const { code, stdout, stderr } = await here.runWith({ env }, "completion", ...words);
  expect(code).toBe(0);
  return [stdout.replaceAll(here.path, ""), stderr.replaceAll(here.path, "")];
}

test.each([
  ["bash", bashHint],
  ["fish", ""],
] as const)("%s: the user sees what was written and removed, and the undo command", async (shell, hint) => {
  await using here = await machine();
  const file = files[shell];
  expect(await completion(here, {}, shell, "install")).toEqual([
    `wrote ${file}\n`,
    `${hint}${tryIt}undo: fairlead completion ${shell} uninstall\n`,
  ]);
  expect(await completion(here, {}, shell, "install")).toEqual([`${file} is up to date\n`, `${hint}${tryIt}`]);
  expect(await completion(here, { PATH: "/nowhere" }, shell, "install")).toEqual([
    `${file} is up to date\n`,
    `${hint}"fairlead" is not on your PATH: completion works only after you add its folder to the PATH.
To try completion, open a new shell, type "npx --no -- fairlead call demo." and press Tab.
`,
  ]);
  const documentOf = async (action: string): Promise<unknown> =>
    JSON.parse((await completion(here, {}, shell, action, "--json"))[0]);
  expect(await documentOf("install")).toEqual({ schemaVersion: 1, shell, file, state: "unchanged" });
  expect(await completion(here, {}, shell, "uninstall")).toEqual([
    `removed ${file}\n`,
    `undo: fairlead completion ${shell} install\n`,
  ]);
  expect(await completion(here, {}, shell, "uninstall")).toEqual([`${file} does not exist\n`, ""]);
  expect(await documentOf("uninstall")).toEqual({ schemaVersion: 1, shell, file, state: "absent" });
  expect(await documentOf("install")).toEqual({ schemaVersion: 1, shell, file, state: "written" });
  expect(await documentOf("uninstall")).toEqual({ schemaVersion: 1, shell, file, state: "removed" });
});

test("zsh: the user sees which lines the startup file needs, has or lost", async () => {
  await using here = await machine({ "home/.zshrc": "# mine\n" });
  const file = files.zsh;
  const lines = ["(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }", `source ${file}`];
  const missing = `To load the script, add these lines to the end of /home/.zshrc, or run the command with --yes:
  ${lines.join("\n  ")}
You do not need these lines if /home/.local/share/zsh/site-functions is in your fpath.
${tryIt}`;
  const undo = "undo: fairlead completion zsh uninstall\n";
  expect(await completion(here, {}, "zsh", "install")).toEqual([`wrote ${file}\n`, `${missing}${undo}`]);
  expect(await completion(here, {}, "zsh", "install")).toEqual([`${file} is up to date\n`, missing]);
  expect(await completion(here, {}, "zsh", "install", "--yes")).toEqual([
    `${file} is up to date\nadded to the end of /home/.zshrc\n`,
    `${tryIt}${undo}`,
  ]);
  expect(await completion(here, {}, "zsh", "install")).toEqual([
    `${file} is up to date\n/home/.zshrc already loads the script\n`,
    tryIt,
  ]);
  const documentOf = async (action: string): Promise<unknown> =>
    JSON.parse((await completion(here, {}, "zsh", action, "--json"))[0]);
  const startup = { file: "/home/.zshrc" };
  const base = { schemaVersion: 1, shell: "zsh", file };
  expect(await documentOf("install")).toEqual({
    ...base,
    state: "unchanged",
    startup: { ...startup, lines, state: "unchanged" },
  });
  expect(await documentOf("uninstall")).toEqual({
    ...base,
    state: "removed",
    startup: { ...startup, state: "removed" },
  });
  expect(await here.read("home/.zshrc")).toBe("# mine\n");
  expect(await documentOf("install")).toEqual({
    ...base,
    state: "written",
    startup: { ...startup, lines, state: "missing" },
  });
  expect(await completion(here, {}, "zsh", "uninstall")).toEqual([
    `removed ${file}\n`,
    "undo: fairlead completion zsh install\n",
  ]);
  expect(await completion(here, {}, "zsh", "install", "--yes")).toEqual([
    `wrote ${file}\nadded to the end of /home/.zshrc\n`,
    `${tryIt}${undo}`,
  ]);
  expect(await completion(here, {}, "zsh", "uninstall")).toEqual([
    `removed ${file}\nremoved Fairlead's lines from /home/.zshrc\n`,
    "undo: fairlead completion zsh install\n",
  ]);
  expect(await documentOf("uninstall")).toEqual({
    ...base,
    state: "absent",
    startup: { ...startup, state: "absent" },
  });
});
