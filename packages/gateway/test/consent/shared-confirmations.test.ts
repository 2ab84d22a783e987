import { toConfirmationView } from "@fairlead/core/policy";
import { ToolConfirmationOutcome } from "@fairlead/core/policy/confirmation";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { Inbox } from "../../src/consent/inbox.ts";
import { SharedConfirmations } from "../../src/consent/shared-confirmations.ts";

const view = toConfirmationView(
  {
    type: "mcp",
    title: "Confirm",
    serverName: "files",
    toolName: "write_file",
    toolDisplayName: "files__write_file",
    description: "Writes a file.",
    args: { path: "a.txt" },
    outcomes: Object.values(ToolConfirmationOutcome),
    onConfirm: async () => {},
  },
  { who: "model" },
);

test("a confirmation of a conversation stands in the inbox, with all its answers", async () => {
  await using folder = await temporaryFolder();
  const inbox = new Inbox(folder.path);
  const shared = new SharedConfirmations(folder.path, "a conversation in the terminal app");
  const open = await shared.share(view, () => false);
  const [entry] = await inbox.list();
  expect(entry).toMatchObject({
    id: open.id,
    who: "model",
    client: "a conversation in the terminal app",
    server: "files",
    name: "write_file",
    args: { path: "a.txt" },
    answers: ["no", "once", "conversation", "server", "always"],
    isAwaited: true,
    isOwn: true,
  });
  await inbox.answer(open.id, "server", "the console");
  expect(await open.answered).toMatchObject({ answer: "server", by: "the console" });
  expect(await open.answer("no", "the terminal app")).toMatchObject({ answer: "server", isFirst: false });
  expect(await inbox.list()).toEqual([]);
  shared.close();
});

test("the answer of the program itself is seen elsewhere, and a later one does not count", async () => {
  await using folder = await temporaryFolder();
  const inbox = new Inbox(folder.path);
  const shared = new SharedConfirmations(folder.path, "fairlead -p");
  const open = await shared.share(view, () => false);
  expect(await open.answer("once", "the terminal app")).toMatchObject({ answer: "once", isFirst: true });
  expect(await inbox.answered(open.id)).toMatchObject({ answer: "once", by: "the terminal app" });
  expect(await inbox.answer(open.id, "no", "the console")).toMatchObject({ isFirst: false, answer: "once" });
  shared.close();
});

test("a withdrawn confirmation leaves the inbox, and no later request can use an answer to it", async () => {
  await using folder = await temporaryFolder();
  const inbox = new Inbox(folder.path);
  const shared = new SharedConfirmations(folder.path, "fairlead -p");
  const [one, other] = [await shared.share(view, () => false), await shared.share(view, () => false)];
  await one.withdraw();
  expect((await inbox.list()).map(({ id }) => id)).toEqual([other.id]);
  await expect(inbox.answer(one.id, "once", "the console")).rejects.toMatchObject({ code: "not_found" });
  await other.withdraw();
  expect(await inbox.list()).toEqual([]);
  shared.close();
});
