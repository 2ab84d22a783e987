import { chmod, mkdir, readdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkState, readStateFacts } from "../../src/doctor/check-state.ts";
import { type Machine, machine } from "../support/machine.ts";

async function found(here: Machine, folder = join(here.home, ".fairlead")): Promise<readonly unknown[]> {
  return checkState(await readStateFacts(folder));
}

const ok = (folder: string): object => ({ severity: "ok", message: `${folder} can be written` });

test("a folder in order, and one that is not there yet; neither is changed by looking", async () => {
  await using here = await machine();
  const folder = join(here.home, ".fairlead");
  expect(await found(here)).toEqual([ok(folder)]);
  const deep = join(here.home, "not/there/yet");
  expect(await found(here, deep)).toEqual([ok(deep)]);
  expect(await readdir(here.home)).toEqual([]);
  await mkdir(folder, { mode: 0o700 });
  expect(await found(here)).toEqual([ok(folder)]);
  expect(await readdir(folder)).toEqual([]);
});

test.each([0o755, 0o777])("one that others can look into (%i) is closed, and that is said once", async (mode) => {
  await using here = await machine();
  const folder = join(here.home, ".fairlead");
  await mkdir(folder);
  await chmod(folder, mode);
  expect(await found(here)).toEqual([
    ok(folder),
    { severity: "note", message: `other users could read ${folder}; doctor has changed its permissions to 700` },
  ]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect(await found(here)).toEqual([ok(folder)]);
});

test("one that other users can replace, because they can change a folder above it", async () => {
  await using here = await machine();
  await chmod(here.path, 0o755);
  await chmod(here.home, 0o777);
  const folder = join(here.home, ".fairlead");
  expect(await found(here)).toEqual([
    ok(folder),
    {
      severity: "warning",
      message: `other users can replace files in ${folder}: ${here.home} is not safe, because other users can change it (mode 777); the background host is not used`,
      next: `run chmod go-w ${here.home}, or set FAIRLEAD_HOME to a folder that only you can change`,
    },
  ]);
});

test("one whose folder of the background host is a link into a folder that other users can change", async () => {
  await using here = await machine();
  const open = join(here.path, "open");
  await chmod(here.path, 0o755);
  await mkdir(join(open, "run"), { recursive: true });
  await chmod(open, 0o777);
  const folder = join(here.home, ".fairlead");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await symlink(join(open, "run"), join(folder, "run"));
  const [, warned] = await found(here);
  expect(warned).toMatchObject({
    severity: "warning",
    message: `other users can replace files in ${folder}: ${open} is not safe, because other users can change it (mode 777); the background host is not used`,
  });
});

test("one that cannot be closed is for its owner to close", () => {
  expect(checkState({ folder: "/f", others: "let in", aside: [] })).toEqual([
    ok("/f"),
    { severity: "warning", message: "other users can read /f", next: "chmod 700 /f" },
  ]);
});

test.each([
  ["a file in its place", ".fairlead", "a part of its path is a file, not a folder"],
  ["a file above it", ".fairlead/deep/down", "a part of its path is a file, not a folder"],
])("%s", async (_name, below, why) => {
  await using here = await machine({ "home/.fairlead": "" });
  const folder = join(here.home, below);
  expect(await found(here, folder)).toEqual([
    {
      severity: "problem",
      code: "internal",
      message: `${folder} cannot be written (${why}): approvals, secrets, logs and cached catalogs cannot be saved`,
      next: `make ${folder} writable, or set FAIRLEAD_HOME to a writable folder`,
    },
  ]);
});

test("a disk that is nearly full", () => {
  expect(checkState({ folder: "/f", others: "kept out", aside: [], free: 1_500_000 })).toEqual([
    ok("/f"),
    {
      severity: "warning",
      message: "the disk of /f is nearly full: 1.5 MB left",
      next: "delete files on that disk",
    },
  ]);
});

test("damaged files that were put aside are named, and how to take them away", async () => {
  await using here = await machine();
  const folder = join(here.home, ".fairlead");
  await mkdir(folder, { mode: 0o700 });
  const aside = await here.write("home/.fairlead/approvals.json.corrupt-2026-01-02T03-04-05.678Z", "{");
  expect(await found(here)).toEqual([
    ok(folder),
    {
      severity: "warning",
      message: `damaged files were renamed: ${aside}; Fairlead no longer uses the data in them`,
      next: `rm ${aside}`,
    },
  ]);
});

test.each(["garbage", '{"a": 1}', ""])("approvals that nothing has needed yet are looked into: %j", async (text) => {
  await using here = await machine({ "home/.fairlead/approvals.json": text });
  await chmod(join(here.home, ".fairlead"), 0o777);
  expect(await found(here)).toMatchObject([
    { severity: "ok" },
    { severity: "note" },
    { severity: "warning", message: expect.stringMatching(/^damaged files were renamed: .*approvals\.json\.corrupt-/) },
  ]);
});
