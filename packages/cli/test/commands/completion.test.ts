import { chmod, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scripts, shells } from "../../src/completion/scripts.ts";
import { type Machine, machine } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";

const places = {
  bash: "home/.local/share/bash-completion/completions/fairlead",
  zsh: "home/.local/share/zsh/site-functions/_fairlead",
  fish: "home/.config/fish/completions/fairlead.fish",
} as const;

describe.each(shells)("completion %s", (shell) => {
  test("prints the script, and nothing else", async () => {
    await using here = await machine();
    expect(await here.run("completion", shell)).toEqual({ code: 0, stdout: scripts[shell], stderr: "" });
    const { stdout } = await here.run("completion", shell, "--json");
    expect(JSON.parse(stdout)).toEqual({ schemaVersion: 1, shell, script: scripts[shell] });
  });

  test("is put where the shell looks, once, and can be taken away", async () => {
    await using here = await machine();
    const file = join(here.path, places[shell]);
    const first = await here.run("completion", shell, "install");
    expect(first.code).toBe(0);
    expect(first.stdout).toContain(`wrote ${file}\n`);
    expect(first.stderr).toContain(`undo: fairlead completion ${shell} uninstall`);
    expect(await here.read(places[shell])).toBe(scripts[shell]);
    const second = await here.run("completion", shell, "install");
    expect(second.stdout).toContain(`${file} is up to date\n`);
    expect(second.stderr).not.toContain("undo:");
    expect((await here.run("completion", shell, "uninstall")).stdout).toContain(`removed ${file}\n`);
    await expect(stat(file)).rejects.toThrow("ENOENT");
    expect((await here.run("completion", shell, "uninstall")).stdout).toContain(`${file} does not exist\n`);
  });

  test("an older script of ours is replaced; a file that Fairlead did not write stays as it is", async () => {
    await using here = await machine();
    await here.run("completion", shell, "install");
    await here.write(places[shell], `${scripts[shell]}# from an older version\n`);
    expect((await here.run("completion", shell, "install")).stdout).toContain("wrote ");
    expect(await here.read(places[shell])).toBe(scripts[shell]);
    await here.write(places[shell], "# mine\n");
    for (const action of ["install", "uninstall"]) {
      const { code, stderr } = await here.run("completion", shell, action);
      expect(code).toBe(2);
      expect(stderr).toMatch(/was not written by fairlead, so it was not changed\n {2}next: move that file away/);
    }
    expect(await here.read(places[shell])).toBe("# mine\n");
  });

  test("says so where there is no command to be completed", async () => {
    await using here = await machine();
    const { code, stderr } = await here.runWith({ env: { PATH: "/nowhere" } }, "completion", shell, "install");
    expect(code).toBe(0);
    expect(stderr).toContain('"fairlead" is not on your PATH');
    expect((await here.run("completion", shell, "install", "--quiet")).stderr).toBe("");
  });
});

test.each([
  ["bash", "XDG_DATA_HOME", "/bash-completion/completions/fairlead"],
  ["bash", "BASH_COMPLETION_USER_DIR", "/completions/fairlead"],
  ["zsh", "XDG_DATA_HOME", "/zsh/site-functions/_fairlead"],
  ["fish", "XDG_CONFIG_HOME", "/fish/completions/fairlead.fish"],
])("%s: %s moves it, unless it is relative", async (shell, variable, path) => {
  await using here = await machine();
  const elsewhere = join(here.path, "else where");
  const options = { env: { [variable]: elsewhere } };
  await here.runWith(options, "completion", shell, "install");
  expect(await readFile(join(elsewhere, path), "utf8")).toContain("fairlead __complete");
  const relative = await here.runWith({ env: { [variable]: "relative" } }, "completion", shell, "install", "--json");
  expect(JSON.parse(relative.stdout)).toMatchObject({ file: expect.stringContaining(`${here.home}/.`) });
});

describe("the startup file of zsh", () => {
  const rc = "home/.zshrc";
  const mine = "# mine\nalias x=y";
  const blockOf = ({ path }: Machine): string =>
    [
      "# >>> fairlead completion >>>",
      "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }",
      `source ${join(path, places.zsh)}`,
      "# <<< fairlead completion <<<",
      "",
    ].join("\n");

  test("is left alone without a yes, and told about", async () => {
    await using here = await machine({ [rc]: mine });
    const { stderr } = await here.run("completion", "zsh", "install");
    expect(stderr).toContain(
      `To load the script, add these lines to the end of ${join(here.path, rc)}, or run the command with --yes:\n`,
    );
    expect(stderr).toContain(`  source ${join(here.path, places.zsh)}\n`);
    expect(await here.read(rc)).toBe(mine);
  });

  test("gets the lines with --yes, once; and loses them again, and nothing else", async () => {
    await using here = await machine({ [rc]: mine });
    await chmod(join(here.path, rc), 0o640);
    const install = ["completion", "zsh", "install", "--yes"];
    expect((await here.run(...install)).stdout).toContain(`added to the end of ${join(here.path, rc)}\n`);
    expect(await here.read(rc)).toBe(`${mine}\n\n${blockOf(here)}`);
    expect((await here.run(...install)).stdout).toContain(`${join(here.path, rc)} already loads the script\n`);
    expect(await here.read(rc)).toBe(`${mine}\n\n${blockOf(here)}`);
    await here.write(rc, `${await here.read(rc)}# after\n`);
    expect((await here.run("completion", "zsh", "uninstall")).stdout).toContain("removed Fairlead's lines from ");
    expect(await here.read(rc)).toBe(`${mine}\n# after\n`);
    expect((await stat(join(here.path, rc))).mode & 0o777).toBe(0o640);
  });

  test("lines of an older version are replaced, not repeated", async () => {
    await using here = await machine({
      [rc]: "a\n# >>> fairlead completion >>>\nold\n# <<< fairlead completion <<<\nb\n",
    });
    await here.run("completion", "zsh", "install", "--yes");
    expect(await here.read(rc)).toBe(`a\nb\n\n${blockOf(here)}`);
  });

  test("is made where there is none, in ZDOTDIR if that is set", async () => {
    await using here = await machine();
    const { stdout } = await here.runWith(
      { env: { ZDOTDIR: join(here.path, "dots") } },
      "completion",
      "zsh",
      "install",
      "--yes",
      "--json",
    );
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      shell: "zsh",
      file: join(here.path, places.zsh),
      state: "written",
      startup: { file: join(here.path, "dots/.zshrc"), lines: blockOf(here).split("\n").slice(1, 3), state: "written" },
    });
    expect(await here.read("dots/.zshrc")).toBe(blockOf(here));
  });

  test.each([
    ["y\r", true],
    ["\r", false],
  ])("at a terminal, %j decides", async (answer, isAdded) => {
    await using here = await machine({ [rc]: mine });
    await using terminal = openTerminal(here, "completion", "zsh", "install");
    expect(await terminal.until(/\[y\/N\]$/m)).toMatch(/source [\s\S]*Add these lines to the end of/);
    terminal.type(answer);
    expect(await terminal.exitCode).toBe(0);
    expect(await here.read(rc)).toBe(isAdded ? `${mine}\n\n${blockOf(here)}` : mine);
  });
});

test("what is not a shell of ours is refused, with those that are", async () => {
  await using here = await machine();
  for (const words of [[], ["tcsh"], ["bash", "remove"]]) {
    const { code, stdout, stderr } = await here.run("completion", ...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/missing required argument 'shell'|bash, zsh, fish|install, uninstall/);
  }
});
