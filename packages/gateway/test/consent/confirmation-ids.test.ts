import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { toWriteError } from "@fairlead/core/files/system-error";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { ConsentQuestion } from "../../src/consent/confirmed-request.ts";
import { withoutInbox } from "../../src/consent/consent.ts";
import { createConfirmationId } from "../../src/consent/inbox-folder.ts";

test.each([
  [["number-7"], /^number-8$/],
  [["number-7", "number-12", "number-9"], /^number-13$/],
  [[], /^number-\d{1,5}$/],
  [["ABC.answer.json", "number-x", "number-", "xnumber-1234567"], /^number-\d{1,5}$/],
])("after the files %j, the file %s reserves the next number", async (names, next) => {
  await using folder = await temporaryFolder();
  expect(await createConfirmationId(folder.path, names)).toMatch(/^[2-9A-HJ-NP-Z]{3}$/);
  const [file = "", ...others] = await readdir(folder.path);
  expect(others).toEqual([]);
  expect(file).toMatch(next);
  expect((await stat(join(folder.path, file))).mode & 0o777).toBe(0o600);
});

test.each([
  [1, "FMM"],
  [2, "U89"],
  [31, "MTZ"],
  [32, "2FM"],
  [32_767, "MEE"],
  [32_768, "222"],
])("the number %i has the id %s", async (number, id) => {
  await using folder = await temporaryFolder();
  expect(await createConfirmationId(folder.path, [`number-${number - 1}`])).toBe(id);
});

test("a number that another process has taken is left out", async () => {
  await using folder = await temporaryFolder();
  for (const taken of [5, 6]) await writeFile(join(folder.path, `number-${taken}`), "");
  const third = await createConfirmationId(folder.path, ["number-4"]);
  await using other = await temporaryFolder();
  expect(await createConfirmationId(other.path, ["number-6"])).toBe(third);
  expect((await readdir(folder.path)).toSorted()).toEqual(["number-5", "number-6", "number-7"]);
});

test("the last four numbers stay in the folder", async () => {
  await using folder = await temporaryFolder();
  const names = [1, 2, 3, 4, 5].map((number) => `number-${number}`);
  for (const name of names) await writeFile(join(folder.path, name), "");
  await createConfirmationId(folder.path, names);
  expect((await readdir(folder.path)).toSorted()).toEqual(["number-3", "number-4", "number-5", "number-6"]);
});

test("a folder that does not exist is an error", async () => {
  await using folder = await temporaryFolder();
  await expect(createConfirmationId(join(folder.path, "none"), [])).rejects.toMatchObject({ code: "ENOENT" });
});

const question: ConsentQuestion = {
  who: "client",
  client: "codex",
  server: "my files",
  kind: "tool",
  name: "write",
  args: {},
  reason: "",
  answers: ["no", "once"],
  key: "0".repeat(64),
  digest: "d1",
};

test("without the inbox, the client's user can answer, and the first answer counts", async () => {
  const open = withoutInbox(question, new Error("disk full"), "/state/approvals");
  expect(open.id).toBe("");
  const once = { answer: "once", by: "the form", at: 0 };
  expect(await open.answer("once", "the form")).toEqual({ ...once, isFirst: true, isAwaited: true });
  expect(await open.answer("no", "the page")).toEqual({ ...once, isFirst: false, isAwaited: true });
  expect(await open.answered).toEqual(once);
  expect(await open.leave()).toEqual(once);
  expect(await open.withdraw()).toBeUndefined();
});

test("without the inbox and without an answer, the client reads why and which folder to make writable", async () => {
  const write = { ...question, server: "files" };
  const folder = "/state/approvals";
  const refused = (cause: string) => ({
    code: "denied",
    message: `Not run: files.write needs approval, but the inbox of approvals in ${folder} cannot be written: ${cause}`,
    serverName: "files",
    next: `Make ${folder} writable (fairlead doctor checks this), or set FAIRLEAD_HOME to another folder.`,
  });
  const readOnly = Object.assign(new Error("EROFS: mkdir"), { code: "EROFS" });
  const because = async (error: unknown): Promise<unknown> => withoutInbox(write, error, folder).leave();
  await expect(because(new Error("odd"))).rejects.toMatchObject(refused("odd"));
  await expect(because(readOnly)).rejects.toMatchObject(refused("the file system is read-only"));
  await expect(because(toWriteError(folder, readOnly))).rejects.toMatchObject(refused("the file system is read-only"));
  await expect(because(new HostError("internal", "odd"))).rejects.toMatchObject(refused("odd"));
  const full = new HostError("denied", "full");
  await expect(because(full)).rejects.toBe(full);
});
