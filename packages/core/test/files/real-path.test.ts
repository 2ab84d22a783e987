import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { findWritableFile, isInside, leadsNowhere, realPathOf } from "../../src/files/real-path.ts";

test.each([
  ["/a", "/a", true],
  ["/a/b", "/a", true],
  ["/a/..b", "/a", true],
  ["/a/b/c", "/a", true],
  ["/ab", "/a", false],
  ["/", "/a", false],
  ["/b", "/a", false],
  ["/b/c", "/a/b", false],
  ["/a/b", "/", true],
])("%s is inside %s: %s", (path, folder, inside) => {
  expect(isInside(path, folder)).toBe(inside);
});

test("links in a path are resolved, and its parts that do not exist stay as written", async () => {
  await using folder = await temporaryFolder();
  const real = await realPathOf(folder.path);
  await folder.write("real/file", "");
  await symlink("real", join(folder.path, "link"));
  expect(await realPathOf(join(folder.path, "link/file"))).toBe(join(real, "real/file"));
  expect(await realPathOf(join(folder.path, "link/new/file"))).toBe(join(real, "real/new/file"));
  expect(await realPathOf(join(folder.path, "real/../link"))).toBe(join(real, "real"));
  expect(await realPathOf("/")).toBe("/");
  expect(await realPathOf("/nowhere-at-all/file")).toBe("/nowhere-at-all/file");
});

test("only a link whose target does not exist leads nowhere", async () => {
  await using folder = await temporaryFolder();
  await folder.write("file", "");
  await symlink("file", join(folder.path, "whole"));
  await symlink("nothing", join(folder.path, "broken"));
  const names = ["file", "whole", "broken", "absent", "file/below", "."];
  expect(await Promise.all(names.map((name) => leadsNowhere(join(folder.path, name))))).toEqual([
    false,
    false,
    true,
    false,
    false,
    false,
  ]);
});

/** Creates the links 1 → 2 → … → `count` → target. */
async function chain(folder: string, count: number): Promise<string> {
  for (let at = 1; at <= count; at += 1) await symlink(at === count ? "target" : `${at + 1}`, join(folder, `${at}`));
  return join(folder, "1");
}

test("forty links in a row are followed, and forty-one count as a circle", async () => {
  await using folder = await temporaryFolder();
  const real = await realPathOf(folder.path);
  await mkdir(join(real, "forty"));
  await mkdir(join(real, "more"));
  expect(await findWritableFile(await chain(join(real, "forty"), 40))).toBe(join(real, "forty/target"));
  const first = await chain(join(real, "more"), 41);
  await expect(findWritableFile(first)).rejects.toMatchObject({
    code: "internal",
    message: `${first} cannot be written: its symbolic links go in a circle; Fairlead did not change it`,
  });
});

test("the folder of a new file is created, and the refusal of a link names its target and the next step", async () => {
  await using folder = await temporaryFolder();
  const real = await realPathOf(folder.path);
  const within = join(real, "root");
  expect(await findWritableFile(join(within, "new/file"), { within })).toBe(join(within, "new/file"));
  expect(await readdir(within)).toEqual(["new"]);
  await symlink("../outside", join(within, "link"));
  const path = join(within, "link");
  await expect(findWritableFile(path, { within })).rejects.toMatchObject({
    code: "denied",
    message: `${path} leads to ${join(real, "outside")}, which is outside ${within}; nothing was written`,
    next: `Replace the link by a file or folder, or edit ${join(real, "outside")} itself.`,
  });
  await symlink("../none/file", join(within, "lost"));
  await expect(findWritableFile(join(within, "lost"))).rejects.toMatchObject({
    message: `${join(within, "lost")} cannot be written: it is a link to ${join(real, "none/file")}, and the folder ${join(real, "none")} does not exist; Fairlead did not change it`,
  });
});
