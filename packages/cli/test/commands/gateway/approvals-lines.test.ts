import { join } from "node:path";
import { Inbox } from "@fairlead/gateway/consent/inbox";
import { expect, test } from "vitest";
import { askingClient } from "../../support/asking-client.ts";
import { machine } from "../../support/machine.ts";

test("the user sees a whole request before the answer, and the answer as a document", async () => {
  await using here = await machine();
  await using client = askingClient(here);
  await client.request("one\u001b");
  await client.request("two");
  const [one, two] = await new Inbox(join(here.home, ".fairlead")).list();
  if (one === undefined || two === undefined) throw new Error("the requests are not in the inbox");
  const line = (id: string): string => `${id}  files.write_file  for cursor, less than a minute ago\n`;
  expect(await here.run("approvals", "list")).toEqual({
    code: 0,
    stdout: `${line(one.id)}${line(two.id)}`,
    stderr: "2 requests; to answer: fairlead approvals allow ID, or fairlead approvals deny ID\n",
  });
  expect(await here.run("approvals", "show", one.id)).toEqual({
    code: 0,
    stdout: `${line(one.id)}client: cursor
hints: destructive (claimed by the server, not verified)
reason: rule 1 of fairlead.toml
arguments (sha256 ${one.digest}):
  {
    "path": "a.txt",
    "text": "one\\u001b"
  }
expires: in 59 minutes
to answer: fairlead approvals allow ${one.id}, or fairlead approvals deny ${one.id}
`,
    stderr: "",
  });
  expect(JSON.parse((await here.run("approvals", "show", one.id, "--json")).stdout)).toEqual({
    schemaVersion: 1,
    id: one.id,
    client: "cursor",
    server: "files",
    tool: "write_file",
    args: { path: "a.txt", text: "one\u001b" },
    since: new Date(one.since).toISOString(),
    reason: "rule 1 of fairlead.toml",
    hints: "destructive (claimed by the server, not verified)",
    answers: one.answers,
    expires: new Date(one.since + 3_600_000).toISOString(),
  });
  const answer = async (...words: readonly string[]): Promise<unknown> =>
    JSON.parse((await here.run("approvals", ...words, "--json")).stdout);
  const at = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(await answer("allow", one.id.toLowerCase())).toEqual({
    schemaVersion: 1,
    id: one.id,
    answer: "once",
    at,
    appliesTo: "next_request",
  });
  expect(await answer("deny", two.id)).toEqual({ schemaVersion: 1, id: two.id, answer: "no", at });
  expect(await here.run("approvals", "deny", one.id)).toEqual({
    code: 2,
    stdout: "",
    stderr: `fairlead: request ${one.id} was already answered: allowed once, in fairlead approvals\n  next: fairlead approvals list\n`,
  });
});
