import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { explain, notRead, notWritten, systemCode, toWriteError, unless } from "../../src/files/system-error.ts";

const failure = (code: unknown): Error => Object.assign(new Error("the system's words"), { code });

test.each<[string, (folder: string) => Promise<unknown>, string]>([
  ["reading a folder", (folder) => readFile(folder), "it is a folder, not a file"],
  ["reading below a file", (folder) => readFile(join(folder, "file/a")), "a part of its path is a file, not a folder"],
  [
    "creating a folder in the place of a file",
    (folder) => mkdir(join(folder, "file")),
    "a part of its path is a file, not a folder",
  ],
  ["reading a link to itself", (folder) => readFile(join(folder, "link")), "its symbolic links go in a circle"],
  [
    "reading a file with a very long name",
    (folder) => readFile(join(folder, "a".repeat(1000))),
    "its name is too long",
  ],
])("the user reads why %s fails", async (_, work, words) => {
  await using folder = await temporaryFolder();
  await folder.write("file", "");
  await symlink("link", join(folder.path, "link"));
  expect(await work(folder.path).catch(explain)).toBe(words);
});

// A test cannot cause these errors on every machine: root may write everywhere, for example.
test.each([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EMFILE", "too many files are open"],
  ["ENFILE", "too many files are open"],
])("the user reads %s as: %s", (code, words) => {
  expect(explain(failure(code))).toBe(words);
});

test.each(["EIO", "", 7])("the user reads the system's own message for the code %j", (code) => {
  expect(explain(failure(code))).toBe("the system's words");
});

test("only a text in an error is a code", () => {
  expect(systemCode(failure("ENOENT"))).toBe("ENOENT");
  expect(systemCode(new HostError("busy", "x"))).toBe("busy");
  expect([failure(7), new Error("x"), { code: "ENOENT" }, "ENOENT", undefined].map(systemCode)).toEqual(
    Array.from({ length: 5 }, () => undefined),
  );
});

test("only the errors with the listed codes are ignored", () => {
  const handle = unless("ENOENT", "ENOTDIR");
  expect([handle(failure("ENOENT")), handle(failure("ENOTDIR"))]).toEqual([undefined, undefined]);
  for (const error of [failure("EACCES"), failure(undefined), new Error("x")])
    expect(() => handle(error)).toThrow(error);
});

test("an error about a file names the file, the reason, the cause and the next step", () => {
  const cause = failure("EACCES");
  const told = ({ code, message, next, cause: from }: HostError) => ({ code, message, next, cause: from });
  expect(told(notRead("/f", "it is odd", cause))).toEqual({
    code: "internal",
    message: "/f cannot be read: it is odd",
    next: "Make sure that you can read /f, then try again.",
    cause,
  });
  expect(told(notWritten("/f", "it is odd", cause))).toEqual({
    code: "internal",
    message: "/f cannot be written: it is odd; Fairlead did not change it",
    next: "Make sure that /f can be written, then try again.",
    cause,
  });
});

test("only an error of the system becomes an error about writing", () => {
  const [own, other] = [new HostError("busy", "x"), new RangeError("x")];
  expect([toWriteError("/f", own), toWriteError("/f", other)]).toEqual([own, other]);
  const cause = failure("ENOSPC");
  expect(toWriteError("/f", cause)).toMatchObject({
    name: "HostError",
    code: "internal",
    message: "/f cannot be written: the disk is full; Fairlead did not change it",
    cause,
  });
});
