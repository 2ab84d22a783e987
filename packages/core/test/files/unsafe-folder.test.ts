import { chmod, chown, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { findUnsafeFolder } from "../../src/files/unsafe-folder.ts";

const user = process.getuid?.() ?? 0;

/** A chain of folders `a/b/c`, all open to other users for reading. */
async function folders() {
  const folder = await temporaryFolder();
  await chmod(folder.path, 0o755);
  await mkdir(join(folder.path, "a/b/c"), { recursive: true });
  for (const each of ["a", "a/b", "a/b/c"]) await chmod(join(folder.path, each), 0o755);
  return { ...folder, in: (name: string) => join(folder.path, name) };
}

describe("the folders above a path", () => {
  test("are safe if only this user and root can change them, also where nothing exists yet", async () => {
    await using here = await folders();
    expect(findUnsafeFolder(here.in("a/b/c"), user)).toBeUndefined();
    expect(findUnsafeFolder(here.in("a/b/c/not/there"), user)).toBeUndefined();
    expect(findUnsafeFolder("/", user)).toBeUndefined();
  });

  test.each([
    ["every user", 0o777],
    ["a group", 0o775],
    ["every user who knows its name", 0o722],
  ])("are not safe if %s can change one of them", async (_, mode) => {
    await using here = await folders();
    for (const name of ["a", "a/b", "a/b/c"]) {
      await chmod(here.in(name), mode);
      expect(findUnsafeFolder(here.in("a/b/c"), user)).toEqual({
        path: here.in(name),
        problem: `other users can change it (mode ${mode.toString(8)})`,
        next: `run chmod go-w ${here.in(name)}, or set FAIRLEAD_HOME to a folder that only you can change`,
      });
      await chmod(here.in(name), 0o755);
    }
  });

  test("are safe below a folder that others cannot enter, and in one with the sticky bit", async () => {
    await using here = await folders();
    await chmod(here.in("a/b"), 0o777);
    await chmod(here.in("a"), 0o700);
    expect(findUnsafeFolder(here.in("a/b/c"), user)).toBeUndefined();
    await chmod(here.in("a"), 0o1777);
    await chmod(here.in("a/b"), 0o755);
    expect(findUnsafeFolder(here.in("a/b/c"), user)).toBeUndefined();
  });

  test.runIf(user === 0)("are not safe if one of them, or a link, belongs to another user", async () => {
    await using here = await folders();
    await chown(here.in("a/b"), 1234, 1234);
    expect(findUnsafeFolder(here.in("a/b/c"), user)).toEqual({
      path: here.in("a/b"),
      problem: "it belongs to another user (id 1234)",
      next: "set FAIRLEAD_HOME to a folder that only you can change",
    });
    // For that user they are, because the others are root's.
    expect(findUnsafeFolder(here.in("a/b/c"), 1234)).toBeUndefined();
  });

  test("are looked at behind links too, and links in a circle end", async () => {
    await using here = await folders();
    await mkdir(here.in("home"));
    await symlink("../a/b", here.in("home/link"));
    expect(findUnsafeFolder(here.in("home/link/c"), user)).toBeUndefined();
    await chmod(here.in("a"), 0o777);
    expect(findUnsafeFolder(here.in("home/link/c"), user)).toMatchObject({ path: here.in("a") });
    // A link leads out of a folder that keeps others out.
    await chmod(here.in("home"), 0o700);
    expect(findUnsafeFolder(here.in("home/link/c"), user)).toMatchObject({ path: here.in("a") });
    await symlink("circle", here.in("circle"));
    expect(findUnsafeFolder(here.in("circle/x"), user)).toBeUndefined();
  });

  test("cannot be looked at without user ids", () => {
    expect(findUnsafeFolder("/", undefined)).toBeUndefined();
  });
});
