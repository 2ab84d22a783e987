import { join } from "node:path";
import { Inbox } from "@fairlead/gateway/consent/inbox";
import { expect, test } from "vitest";
import { askingClient } from "../../support/asking-client.ts";
import { machine } from "../../support/machine.ts";

test("approvals lists, shows, allows and denies requests of clients", async () => {
  await using here = await machine();
  await using client = askingClient(here);
  expect(await here.run("approvals")).toMatchObject({ code: 0, stdout: "", stderr: "no requests wait for approval\n" });
  await client.request("one");
  await client.request("two\u001b[31m");
  const { approvals } = JSON.parse((await here.run("approvals", "list", "--json")).stdout) as {
    readonly approvals: readonly { readonly id: string }[];
  };
  expect(approvals).toEqual([
    {
      id: expect.stringMatching(/^[0-9A-Z]+$/),
      client: "cursor",
      server: "files",
      tool: "write_file",
      args: { path: "a.txt", text: "one" },
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      reason: "rule 1 of fairlead.toml",
      hints: "destructive (claimed by the server, not verified)",
    },
    expect.objectContaining({ args: { path: "a.txt", text: "two\u001b[31m" } }),
  ]);
  const [one = "", two = ""] = approvals.map(({ id }) => id);
  const list = await here.run("approvals");
  expect(list.stdout).toBe(
    [one, two].map((id) => `${id}  files.write_file  for cursor, less than a minute ago\n`).join(""),
  );
  const shown = await here.run("approvals", "show", two.toLowerCase());
  expect(shown.stdout).toContain("reason: rule 1 of fairlead.toml");
  expect(shown.stdout).not.toContain("\u001b");

  expect(await here.run("approvals", "allow", one)).toMatchObject({ code: 0, stdout: `${one}: allowed once\n` });
  expect(await client.request("one")).toBe("yes");
  expect(await client.request("one")).not.toBe("yes");
  expect(await here.run("approvals", "deny", two, "--json")).toMatchObject({ code: 0 });
  expect(await here.run("approvals", "deny", "nothing")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("approval nothing not found"),
  });
  expect((await new Inbox(join(here.home, ".fairlead")).list()).map(({ id }) => id)).not.toContain(two);
});

test("only the first answer counts", async () => {
  await using here = await machine();
  await using client = askingClient(here);
  await client.request("one");
  const [{ id } = { id: "" }] = await new Inbox(join(here.home, ".fairlead")).list();
  expect((await here.run("approvals", "deny", id)).stdout).toBe(`${id}: denied\n`);
  expect(await here.run("approvals", "allow", id)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("was already answered: denied, in fairlead approvals"),
  });
});

test.each([
  { isOutdated: false, code: 0, stdout: ": allowed once\n", stderr: "" },
  {
    isOutdated: true,
    code: 6,
    stdout: "",
    stderr: "did not run: the tool's definition changed while the request waited",
  },
])("allow says what became of a request that waits: changed $isOutdated", async ({ isOutdated, ...said }) => {
  await using here = await machine();
  await using client = askingClient(here, isOutdated);
  const inbox = new Inbox(join(here.home, ".fairlead"));
  let list: (id: string) => void = () => {};
  const listed = new Promise<string>((resolve) => {
    list = resolve;
  });
  // A request waits only while a program shows the inbox.
  await using _watch = await inbox.watch(() => void inbox.list().then(([first]) => first && list(first.id)));
  const answered = client.request("one");
  const id = await listed;
  expect(await here.run("approvals", "allow", id)).toEqual({
    code: said.code,
    stdout: expect.stringContaining(said.stdout),
    stderr: said.stderr === "" ? "" : expect.stringContaining(said.stderr),
  });
  await answered;
});

test.each([
  [[], "files.write_file denied: the user declined it"],
  [["--because", "use drafts"], "files.write_file denied: the user declined it: use drafts"],
])("deny %j tells a program that waits: %s", async (words, told) => {
  await using here = await machine();
  await using client = askingClient(here);
  const inbox = new Inbox(join(here.home, ".fairlead"));
  let list: (id: string) => void = () => {};
  const listed = new Promise<string>((resolve) => {
    list = resolve;
  });
  await using _watch = await inbox.watch(() => void inbox.list().then(([first]) => first && list(first.id)));
  const answered = client.request("one");
  const id = await listed;
  expect(await here.run("approvals", "deny", id, ...words)).toEqual({ code: 0, stdout: `${id}: denied\n`, stderr: "" });
  expect(await answered).toBe(told);
});

test.each([
  ["approvals", "inbox"],
  ["history", "ledger"],
])("%s names the folder that cannot be read", async (command, folder) => {
  await using here = await machine({ [`home/.fairlead/${folder}`]: "not a folder" });
  const path = join(here.home, ".fairlead", folder);
  expect(await here.run(command)).toEqual({
    code: 1,
    stdout: "",
    stderr: `fairlead: ${path} cannot be read: a part of its path is a file, not a folder\n  next: Make sure that you can read ${path}, then try again.\n`,
  });
});

test("allow says that a request which was refused before has not run", async () => {
  await using here = await machine();
  await using client = askingClient(here);
  await client.request("one");
  const [{ id } = { id: "" }] = await new Inbox(join(here.home, ".fairlead")).list();
  const { stdout, stderr } = await here.run("approvals", "allow", id);
  expect(stdout).toBe(`${id}: allowed once\n`);
  expect(stderr).toBe(
    "not run yet: if the program sends the same request again within ten minutes, it runs, unless the tool's definition has changed\n",
  );
});

test.each([{ words: [] }, { words: ["--conversation"] }])(
  "after the program has left, allow $words counts once, for the request that was shown",
  async ({ words }) => {
    await using here = await machine();
    const state = join(here.home, ".fairlead");
    {
      await using client = askingClient(here);
      await client.request("one");
    }
    const [{ id, answers } = { id: "", answers: [] }] = await new Inbox(state).list();
    expect(answers).toEqual(["no", "once"]);
    const { code, stdout, stderr } = await here.run("approvals", "allow", id, ...words);
    expect([code, stdout]).toEqual([0, `${id}: allowed once\n`]);
    expect(stderr.includes("not for the conversation: the program no longer waits")).toBe(words.length > 0);
    await using next = askingClient(here);
    expect(await next.request("two")).toMatch(/^Not run: /);
    expect([await next.request("one"), next.outcomes]).toEqual(["yes", ["proceed_once"]]);
  },
);
