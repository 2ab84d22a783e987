import { expect, test } from "vitest";
import { type Ending, machine } from "../../support/machine.ts";

test("without recorded conversations, each command tells the user so", async () => {
  await using here = await machine();
  const said = (stderr: string): Ending => ({ code: 0, stdout: "", stderr: `${stderr}\n` });
  expect(await here.run("conversations")).toEqual(said("no recorded conversations"));
  expect(await here.run("clean")).toEqual(said("nothing to remove"));
  expect(JSON.parse((await here.run("conversations", "--json")).stdout)).toEqual({
    schemaVersion: 1,
    conversations: [],
  });
  expect(JSON.parse((await here.run("clean", "--json", "--dry-run")).stdout)).toEqual({
    schemaVersion: 1,
    removed: [],
    open: [],
    results: { files: 0, bytes: 0 },
    dryRun: true,
  });
});

test("a mistake in the command line is named with the next step", async () => {
  await using here = await machine();
  const combined = "ids, --older-than and --all cannot be combined\n  next: fairlead clean --help";
  const unknown = 'there is no conversation "abc"\n  next: fairlead conversations';
  const limit = (word: string): string =>
    `--limit must be a whole number above zero, not "${word}"\n  next: --limit 200`;
  const mistakes: readonly (readonly [words: string, message: string])[] = [
    ["clean --all --older-than 7d", combined],
    ["clean --all abc", combined],
    ["clean --older-than 7d abc", combined],
    ["clean --older-than x", '--older-than "x" is not a time or a duration\n  next: --older-than 7d'],
    ["clean abc", unknown],
    ["replay abc", unknown],
    ["conversations --limit 0", limit("0")],
    ["conversations --limit 1000000", limit("1000000")],
    ["conversations --limit 1x", limit("1x")],
  ];
  for (const [words, message] of mistakes)
    expect(await here.run(...words.split(" ")), words).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairlead: ${message}\n`,
    });
  for (const word of ["1", "999999"])
    expect(await here.run("conversations", "--limit", word)).toMatchObject({ code: 0 });
});
