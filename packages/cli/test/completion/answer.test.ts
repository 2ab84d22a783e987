import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import {
  type CompletionAnswer,
  suggestFiles,
  toWords,
  withoutDashes,
  withPrefix,
} from "../../src/completion/answer.ts";

function valuesOf(answer: CompletionAnswer): readonly (readonly [string, boolean])[] {
  if (answer.kind !== "words") return [];
  return answer.candidates
    .map(({ value, isOpen }) => [value, isOpen] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}

test("files and folders of the typed path are suggested, a folder with its slash and without a space after it", async () => {
  await using here = await temporaryFolder();
  await here.write("docs/guide.md", "");
  await here.write("docs/.hidden", "");
  await mkdir(join(here.path, "docs/deep"));
  await symlink(join(here.path, "docs/deep"), join(here.path, "docs/linked"));
  const suggested = async (kind: "files" | "folders", prefix: string, current: string) =>
    valuesOf(await suggestFiles({ kind, prefix }, current, { cwd: here.path }));

  expect(await suggested("files", "", "")).toEqual([["docs/", true]]);
  expect(await suggested("files", "", "docs/")).toEqual([
    ["docs/deep/", true],
    ["docs/guide.md", false],
    ["docs/linked/", true],
  ]);
  expect(await suggested("folders", "", "docs/")).toEqual([
    ["docs/deep/", true],
    ["docs/linked/", true],
  ]);
  expect(await suggested("files", "--file=", "--file=docs/g")).toEqual([["--file=docs/guide.md", false]]);
  expect(await suggested("files", "", "docs/.h")).toEqual([["docs/.hidden", false]]);
  expect(await suggested("files", "", "no-such-folder/")).toEqual([]);
});

test("a word is suggested with the first line of its description, clipped", () => {
  const words = toWords([
    { value: "a", about: "\n first line \nsecond line" },
    { value: "b", about: "x".repeat(200), isOpen: true },
  ]);
  expect(words).toEqual({
    kind: "words",
    candidates: [
      { value: "a", about: "first line", isOpen: false },
      { value: "b", about: expect.stringMatching(/^x{90,99}…$/), isOpen: true },
    ],
  });
});

test("empty, very long and invisible words are not suggested", () => {
  const offered = ["", "x".repeat(1001), "a\u202eb", "x".repeat(1000)].map((value) => ({ value }));
  expect(valuesOf(toWords(offered))).toEqual([["x".repeat(1000), false]]);
});

test("a prefix stands before every word, and before the prefix of a path", () => {
  expect(valuesOf(withPrefix("--kind=", toWords([{ value: "a" }])))).toEqual([["--kind=a", false]]);
  expect(withPrefix("--file=", { kind: "files", prefix: "@" })).toEqual({ kind: "files", prefix: "--file=@" });
});

test("words that begin with a dash are dropped, paths are not", () => {
  expect(valuesOf(withoutDashes(toWords([{ value: "--yes" }, { value: "a-b" }])))).toEqual([["a-b", false]]);
  expect(withoutDashes({ kind: "folders", prefix: "" })).toEqual({ kind: "folders", prefix: "" });
});
