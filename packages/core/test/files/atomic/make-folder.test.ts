import { chmod, mkdir, readdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { makeFolder } from "../../../src/files/atomic/private-folder.ts";
import { expectRefusal } from "../../support/expect-refusal.ts";

test("a folder is made with those above it; those that are there keep their mode", async () => {
  await using folder = await temporaryFolder();
  const modeOf = async (name: string): Promise<number> => (await stat(join(folder.path, name))).mode & 0o777;
  await mkdir(join(folder.path, "a"));
  await chmod(join(folder.path, "a"), 0o750);
  await makeFolder(join(folder.path, "a/b/c"), 0o700);
  await makeFolder(join(folder.path, "a/b/c"), 0o755);
  expect([await modeOf("a"), await modeOf("a/b"), await modeOf("a/b/c")]).toEqual([0o750, 0o700, 0o700]);
});

test("many may make the same one at once", async () => {
  await using folder = await temporaryFolder();
  await Promise.all(Array.from({ length: 10 }, () => makeFolder(join(folder.path, "a/b/c"))));
  expect(await readdir(join(folder.path, "a/b"))).toEqual(["c"]);
});

test("a link to a folder is a folder; one that leads nowhere is said to be so", async () => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, "real"));
  await symlink("real", join(folder.path, "good"));
  await symlink("nothing", join(folder.path, "bad"));
  await makeFolder(join(folder.path, "good/below"));
  expect(await readdir(join(folder.path, "real"))).toEqual(["below"]);
  for (const name of ["bad", "bad/below"])
    await expectRefusal(makeFolder(join(folder.path, name)), {
      code: "internal",
      message: `${join(folder.path, "bad")} cannot be written: it is a symbolic link whose target does not exist`,
    });
  expect((await readdir(folder.path)).sort()).toEqual(["bad", "good", "real"]);
});

test("a file in the way is refused", async () => {
  await using folder = await temporaryFolder();
  await folder.write("file", "");
  await expect(makeFolder(join(folder.path, "file"))).rejects.toMatchObject({ code: "EEXIST" });
  await expect(makeFolder(join(folder.path, "file/below"))).rejects.toMatchObject({ code: "ENOTDIR" });
});

test("where no folder can be made, it says so instead of trying for ever", async () => {
  // Linux has such a place; elsewhere the top of the disk refuses, each system in its own words.
  await expect(makeFolder("/proc/fairlead/below")).rejects.toThrow(/no folder can be created there|EACCES|EPERM|EROFS/);
});
