import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type ApprovedTools, loadApprovedTools, type ServerIdentity } from "../../src/policy/approvals.ts";
import { definitionDigest } from "../../src/server/tool-changes.ts";
import { definition } from "../support/consent-desk.ts";

const now = () => new Date(0);
const [pay, other] = [definition("pay"), definition("pay", { description: "Pays twice." })];

/** Approvals of `s`, which has this fingerprint; no other server is known. */
function load(state: string, fingerprint = "f"): Promise<ApprovedTools> {
  const identityOf = (server: string): ServerIdentity | undefined =>
    server === "s" ? { server, fingerprint } : undefined;
  return loadApprovedTools({ state, identityOf, now });
}

const digests = (approved: ApprovedTools): readonly string[] => approved.all().map(({ digest }) => digest);

test("what is saved is found at once and in the next run, each tool once", async () => {
  await using folder = await temporaryFolder();
  const approved = await load(folder.path);
  expect([approved.canSave("s"), approved.canSave("unknown"), approved.problems]).toEqual([true, false, []]);
  await approved.save("s", pay);
  await approved.save("s", definition("look"));
  await approved.save("s", other);
  for (const each of [approved, await load(folder.path)]) {
    expect(each.find("s", "pay")).toMatchObject({ digest: definitionDigest(other) });
    expect([each.find("s", "nothing"), each.find("unknown", "pay")]).toEqual([undefined, undefined]);
    expect(digests(each)).toEqual([definitionDigest(other), definitionDigest(definition("look"))]);
  }
});

test("nothing is saved for a server that is not known", async () => {
  await using folder = await temporaryFolder();
  const approved = await load(folder.path);
  await approved.save("unknown", pay);
  await approved.forgetOthers("unknown", pay);
  expect([digests(approved), digests(await load(folder.path))]).toEqual([[], []]);
});

test("an approval of the same definition stays, one of another definition is forgotten, here and on disk", async () => {
  await using folder = await temporaryFolder();
  const approved = await load(folder.path);
  await approved.save("s", pay);
  await approved.save("s", definition("look"));
  await approved.forgetOthers("s", pay);
  await approved.forgetOthers("s", definition("new"));
  expect(digests(approved)).toHaveLength(2);
  await approved.forgetOthers("s", other);
  for (const each of [approved, await load(folder.path)])
    expect(digests(each)).toEqual([definitionDigest(definition("look"))]);
});

test("an approval for one client is found for this client only, and an accepted change forgets those of all clients", async () => {
  await using folder = await temporaryFolder();
  const approved = await load(folder.path);
  await approved.save("s", pay, "codex");
  await approved.save("s", pay, "cursor");
  for (const each of [approved, await load(folder.path)]) {
    const found = ["codex", "cursor", "claude-code", undefined].map((client) => each.find("s", "pay", client)?.client);
    expect(found).toEqual(["codex", "cursor", undefined, undefined]);
  }
  await approved.save("s", other);
  await approved.forgetOthers("s", other);
  for (const each of [approved, await load(folder.path)]) expect(digests(each)).toEqual([definitionDigest(other)]);
});

test("an approval of another entry of the same name is not shown", async () => {
  await using folder = await temporaryFolder();
  await (await load(folder.path)).save("s", pay);
  const approved = await load(folder.path, "another");
  expect([approved.all(), approved.find("s", "pay")]).toEqual([[], undefined]);
});

test("of two approvals of the same tool, the first in the file counts, because new approvals are written first", async () => {
  await using folder = await temporaryFolder();
  const approval = { server: "s", fingerprint: "f", tool: "pay", approvedAt: now().toISOString() };
  const tools = [
    { ...approval, digest: "first" },
    { ...approval, digest: "second" },
  ];
  await folder.write("approvals.json", { version: 2, workspaces: {}, tools });
  const approved = await load(folder.path);
  expect([approved.find("s", "pay")?.digest, digests(approved)]).toEqual(["first", ["first"]]);
});
