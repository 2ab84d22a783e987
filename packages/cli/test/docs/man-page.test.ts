import { spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";

interface Scripts {
  readonly commandHelp: () => Promise<{
    readonly commands: readonly { readonly name: string; readonly help: string }[];
  }>;
  readonly manPage: () => Promise<string>;
}

const load = async (script: string): Promise<Scripts> =>
  (await import(new URL(`../../../../scripts/${script}`, import.meta.url).href)) as Scripts;

test("the man page has the help of every command, as it is typed, and groff finds no mistake in it", async () => {
  const page = await (await load("package/man-page.mjs")).manPage();
  const { commands } = await (await load("command-help.mjs")).commandHelp();
  expect(commands.length).toBeGreaterThan(50);
  const formatted = spawnSync("groff", ["-man", "-Tutf8", "-ww", "-rLL=400n"], { input: page, encoding: "utf8" });
  if (formatted.error) return void process.stderr.write("man page not formatted: no groff here\n");
  expect(formatted.stderr).toBe("");
  // groff writes bold letters with escapes, or twice with a backspace between.
  const text = stripVTControlCharacters(formatted.stdout.replaceAll(/.[\b]/g, ""));
  for (const { name, help } of commands) {
    expect(text).toContain(`fairlead ${name}\n`);
    expect(text).toContain(help.split("\n", 1)[0]?.trim());
  }
});
