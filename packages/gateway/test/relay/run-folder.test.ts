import { chmodSync, mkdirSync, rmdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createRunFolder, filesIn, readToken, runFolderOf } from "../../src/relay/run-folder.ts";

const options = { state: "/home/ann/.fairlead", installation: "abc", temporary: "/tmp", platform: "linux" } as const;

test("the files of a host have fixed paths", () => {
  const path = join("/home/ann/.fairlead", "run", "1-abc");
  expect(runFolderOf(options)).toEqual({
    all: join("/home/ann/.fairlead", "run"),
    path,
    socket: join(path, "socket"),
    socketFolder: undefined,
    token: join(path, "token"),
    startLock: join(path, "start"),
    hostLock: join(path, "host"),
    log: join("/home/ann/.fairlead", "run", "host.log"),
  });
});

test("a socket whose path would have more than 103 bytes is in the folder for temporary files", () => {
  const pathOf = (bytes: number) => `/${"é".repeat(10)}${"x".repeat(bytes - 28)}`;
  const where = { all: "/all", temporary: "/tmp", platform: "darwin" } as const;
  expect(filesIn(pathOf(103), where).socket).toBe(`${pathOf(103)}/socket`);
  const { socket, socketFolder } = filesIn(pathOf(104), where);
  expect(socketFolder).toMatch(/^\/tmp\/fairlead-[0-9a-f]{16}$/);
  expect(socket).toBe(`${socketFolder}/socket`);
  expect(filesIn(pathOf(105), where).socketFolder).not.toBe(socketFolder);
});

test("Windows has a named pipe for each folder", () => {
  const { socket, socketFolder } = runFolderOf({ ...options, platform: "win32" });
  expect(socket).toMatch(/^\\\\[.]\\pipe\\fairlead-[0-9a-f]{16}$/);
  expect(socketFolder).toBeUndefined();
  expect(runFolderOf({ ...options, platform: "win32", installation: "other" }).socket).not.toBe(socket);
});

/** A host whose socket is in a folder of its own. */
async function scene() {
  const temporary = await temporaryFolder();
  const socketFolder = join(temporary.path, "sockets");
  const path = join(temporary.path, "run", "1-abc");
  const files = { ...filesIn(path, { all: temporary.path, temporary: "/tmp", platform: "linux" }), socketFolder };
  return { files, socketFolder, path, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() };
}

const unsafe = "is not safe to use: other users can access it";

test("only this user can use the folders; a folder that others can access is refused", async () => {
  await using here = await scene();
  createRunFolder(here.files);
  writeFileSync(here.files.token, "secret\n");
  expect([here.path, here.socketFolder].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
  expect(readToken(here.files)).toBe("secret");
  for (const mode of [0o710, 0o701]) {
    chmodSync(here.socketFolder, mode);
    expect(() => createRunFolder(here.files)).toThrow(`${here.socketFolder} ${unsafe}`);
    expect(() => readToken(here.files)).toThrow(unsafe);
  }
  expect(readToken({ ...here.files, socketFolder: undefined })).toBe("secret");
});

test("a link instead of the folder is refused", async () => {
  await using here = await scene();
  createRunFolder(here.files);
  writeFileSync(here.files.token, "secret\n");
  rmdirSync(here.socketFolder);
  const other = join(here.path, "other");
  mkdirSync(other, { mode: 0o700 });
  symlinkSync(other, here.socketFolder);
  expect(() => createRunFolder(here.files)).toThrow(unsafe);
  expect(() => readToken(here.files)).toThrow(unsafe);
});

test("without a token there is no host", async () => {
  await using here = await scene();
  createRunFolder({ ...here.files, socketFolder: undefined });
  expect(readToken({ ...here.files, socketFolder: undefined })).toBeUndefined();
});
