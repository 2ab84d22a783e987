import { chmod, readdir, readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import {
  findOwnProgram,
  findProgram,
  isUntrusted,
  isUntrustedFolder,
  withoutUntrusted,
} from "../../src/trust/programs.ts";
import { manualClock } from "../support/manual-clock.ts";
import { openersFolder } from "../support/openers.ts";

/** Every file that starts a program, and how that program is found. A new one has to find its program the same ways. */
const starters = {
  "cli/src/commands/bundle.ts": "none: the file is part of the bundle, and the client starts Fairlead's own command",
  "cli/src/commands/connect.ts": "an absolute path of the system (macOS)",
  "cli/src/commands/mcp/sandbox.ts": "openBox: bubblewrap, as for the server itself",
  "cli/src/pin/pin-server.ts": "planLaunch, as for the server itself",
  "core/src/auth/google/program-subject-token.ts":
    "an absolute path in the user's Google credentials, if a variable allows such programs",
  "core/src/connect/command-secret.ts": 'findOwnProgram: the program of "${command:…}"',
  "core/src/ide/find-companions.ts": "an absolute path of the system (macOS)",
  "core/src/net/open-url.ts": "findOwnProgram, or an absolute path of the system",
  "core/src/sandbox/bubblewrap.ts": "findOwnProgram: bubblewrap",
  "core/src/sandbox/fetch-package.ts": "findOwnProgram: bubblewrap, with a program of planLaunch in its sandbox",
  "core/src/sandbox/inside-script.ts": "none: the script counts what the server starts inside its sandbox",
  "wire/src/stdio/process-tree.ts": "an absolute path of the system (Windows)",
  "wire/src/stdio/process.ts": "planLaunch: the server",
  "wire/src/stdio/watchdog.ts": "/bin/sh and Node itself",
};

test("no other file starts a program", async () => {
  const packages = fileURLToPath(new URL("../../../", import.meta.url));
  const files: string[] = [];
  for (const name of ["cli", "core", "wire"])
    for (const file of await readdir(join(packages, name, "src"), { recursive: true }))
      if (/[.]tsx?$/.test(file)) files.push(`${name}/src/${file}`);
  expect(files.length).toBeGreaterThan(300);
  const found: string[] = [];
  for (const file of files)
    if (/child_process"|cross-spawn"/.test(await readFile(join(packages, file), "utf8"))) found.push(file);
  expect(found.sort()).toEqual(Object.keys(starters));
});

test("a program of ours gets no PATH entry that an untrusted workspace controls", async () => {
  await using openers = await openersFolder();
  const bin = join(openers.path, "bin");
  const root = join(openers.path, "workspace");
  const place = openers.place("linux", { PATH: `${root}:.::${bin}:relative:${root}/bin`, TERM: "dumb" });
  expect(await findOwnProgram("xdg-open", place)).toEqual({
    file: join(bin, "xdg-open"),
    env: { PATH: bin, TERM: "dumb" },
  });
  expect(await findOwnProgram("not-there", place)).toBeUndefined();
});

test("a program that becomes a link into the untrusted workspace is refused at once", async () => {
  await using openers = await openersFolder();
  const bin = join(openers.path, "bin");
  const place = openers.place("linux", { PATH: bin });
  const program = join(bin, "xdg-open");
  expect(await findOwnProgram("xdg-open", place)).toMatchObject({ file: program });
  const planted = await openers.write("workspace/bin/xdg-open", "#!/bin/sh\n");
  await chmod(planted, 0o755);
  await rm(program);
  await symlink(planted, program);
  expect(await findOwnProgram("xdg-open", place)).toBeUndefined();
});

test("without a PATH it is searched for where the system does", async () => {
  const place = { environment: { env: {}, platform: "linux", home: "/root" }, root: "/work", trusted: false } as const;
  expect(await findOwnProgram("sh", place)).toEqual({ file: "/bin/sh", env: { PATH: "/bin:/usr/bin" } });
});

test("the result of a search in folders is used for one second, and then the folders are searched again", async () => {
  await using openers = await openersFolder();
  const clock = manualClock();
  const place = { ...openers.place("linux", {}), clock };
  const link = join(openers.path, "link");
  await openers.write("workspace/bin/tool", "");
  await symlink(join(openers.path, "bin"), link);
  const search = async () => [await withoutUntrusted(link, place), await isUntrustedFolder(link, place)];
  const outside = [{ path: link, dropped: [] }, false];
  // The second begins with the search, not with the session.
  await clock.pass(5_000);
  expect(await search()).toEqual(outside);
  await rm(link);
  await symlink(join(openers.path, "workspace/bin"), link);
  await clock.pass(999);
  expect(await search()).toEqual(outside);
  await clock.pass(1);
  expect(await search()).toEqual([{ path: "", dropped: [link] }, true]);
});

test("a workspace that contains the home folder forbids no program", async () => {
  await using openers = await openersFolder();
  const { environment } = openers.place("linux", {});
  const bin = join(openers.path, "bin");
  const place = { environment, root: openers.path, trusted: false };
  expect([await withoutUntrusted(`${bin}:relative`, place), await isUntrustedFolder(bin, place)]).toEqual([
    { path: bin, dropped: ["relative"] },
    false,
  ]);
});

test("a trusted workspace keeps every entry of the search path", async () => {
  await using openers = await openersFolder();
  const place = { ...openers.place("linux", {}), trusted: true };
  const path = `relative::${place.root}/bin`;
  expect([await withoutUntrusted(path, place), await isUntrustedFolder(place.root, place)]).toEqual([
    { path, dropped: [] },
    false,
  ]);
});

test("what lies in an untrusted workspace, or leads into it or out of it, is not trusted", async () => {
  await using openers = await openersFolder();
  const place = openers.place("linux", {});
  await openers.write("workspace/bin/tool", "");
  const [inside, outside] = [join(openers.path, "workspace/bin"), join(openers.path, "bin")];
  await symlink(outside, join(openers.path, "workspace/out"));
  await symlink(inside, join(openers.path, "in"));
  const paths = ["workspace", "workspace/bin", "workspace/out", "workspace/missing", "in", "bin", "missing"];
  const all = paths.map((path) => join(openers.path, path));
  const ours = [true, true, true, true, true, false, false];
  expect(await Promise.all(all.map((path) => isUntrusted(path, place)))).toEqual(ours);
  expect(await Promise.all(all.map((path) => isUntrustedFolder(path, place)))).toEqual(ours);
  expect(await withoutUntrusted(all.join(":"), place)).toEqual({
    path: all.slice(5).join(":"),
    dropped: all.slice(0, 5),
  });
  const trusted = { ...place, trusted: true };
  expect(await Promise.all(all.map((path) => isUntrusted(path, trusted)))).toEqual(all.map(() => false));
});

test("of the folders in a search path, the first counts that has an executable file of this name", async () => {
  await using folder = await temporaryFolder();
  await folder.write("a/tool/file", "");
  await folder.write("b/tool", "");
  for (const file of ["c/tool", "d/tool"]) await chmod(await folder.write(file, ""), 0o755);
  const path = "missing:a:b:c:d";
  expect(await findProgram("tool", path, folder.path)).toBe(join(folder.path, "c/tool"));
  expect(await findProgram("./tool", path, folder.path)).toBeUndefined();
  expect(await findProgram("d/tool", path, folder.path)).toBe(join(folder.path, "d/tool"));
  expect(await findProgram("tool", "missing:a:b", folder.path)).toBeUndefined();
});
