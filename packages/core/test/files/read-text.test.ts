import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { readText } from "../../src/files/read-text.ts";

const limit = 100;

interface Case {
  readonly what: string;
  readonly make: (path: string, folder: TemporaryFolder) => unknown;
  readonly found: Awaited<ReturnType<typeof readText>>;
}

const cases: readonly Case[] = [
  { what: "a text", make: (path) => writeFile(path, "{ é 🚢 }\r\n"), found: { kind: "text", text: "{ é 🚢 }\r\n" } },
  { what: "an empty file", make: (path) => writeFile(path, ""), found: { kind: "text", text: "" } },
  { what: "a byte order mark", make: (path) => writeFile(path, "\uFEFF{}"), found: { kind: "text", text: "\uFEFF{}" } },
  {
    what: "a text as large as allowed",
    make: (path) => writeFile(path, "x".repeat(limit)),
    found: { kind: "text", text: "x".repeat(limit) },
  },
  {
    what: "a text larger than allowed",
    make: (path) => writeFile(path, "x".repeat(limit + 1)),
    found: { kind: "unreadable", reason: "it is larger than 100 bytes" },
  },
  { what: "nothing", make: () => undefined, found: { kind: "absent" } },
  { what: "a link to nothing", make: (path) => symlink("nowhere", path), found: { kind: "absent" } },
  {
    what: "a link to a text",
    make: async (path, folder) => {
      await folder.write("target", "there");
      await symlink("target", path);
    },
    found: { kind: "text", text: "there" },
  },
  {
    what: "a folder",
    make: (path) => mkdir(path),
    found: { kind: "unreadable", reason: "it is a folder, not a file" },
  },
  {
    what: "a pipe without a writer",
    make: (path) => execFileSync("mkfifo", [path]),
    found: { kind: "unreadable", reason: "it is not a regular file" },
  },
  {
    what: "a device without end",
    make: (path) => symlink("/dev/zero", path),
    found: { kind: "unreadable", reason: "it is not a regular file" },
  },
  {
    what: "bytes that are not UTF-8",
    make: (path) => writeFile(path, Buffer.from([0x7b, 0xc3, 0x28, 0x7d])),
    found: { kind: "unreadable", reason: "it is not valid UTF-8 text" },
  },
  {
    what: "UTF-16, as some Windows programs write it",
    make: (path) => writeFile(path, Buffer.from("\uFEFF{}", "utf16le")),
    found: { kind: "unreadable", reason: "it is UTF-16 text; save it as UTF-8" },
  },
];

test.each(cases)("$what", async ({ make, found }) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "file");
  await make(path, folder);
  expect(await readText(path, limit)).toEqual(found);
});

test("a path through a file leads to nothing", async () => {
  await using folder = await temporaryFolder();
  expect(await readText(join(await folder.write("file", ""), "settings.json"), limit)).toEqual({ kind: "absent" });
});

test("when the system refuses, its error is the cause", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "loop");
  await symlink("loop", path);
  expect(await readText(path, limit)).toMatchObject({
    kind: "unreadable",
    reason: "its symbolic links go in a circle",
    cause: { code: "ELOOP" },
  });
});

test("a socket is not a text", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "socket");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  expect(await readText(path, limit)).toMatchObject({ kind: "unreadable" });
  server.close();
});
