import { createHash } from "node:crypto";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { readConversation } from "../../src/conversations/read-conversation.ts";
import { expectRefusal } from "../support/expect-refusal.ts";

const time = "2026-01-31T09:30:00.000Z";
const head = {
  v: 1,
  id: "20260131-093000-a1b2c3",
  time,
  workspace: "/w",
  model: { provider: "p", name: "m" },
};
const line = (members: object): object => ({ time, ...members });
const toLines = (...values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");

test("lines are read in order; unknown types and an incomplete last line are skipped", async () => {
  await using folder = await temporaryFolder();
  const [one, two] = [line({ type: "input", text: "one ⚓" }), line({ type: "title", title: "two" })];
  const whole = toLines(head, one, line({ type: "later" }), two);
  const torn = Buffer.from(JSON.stringify(line({ type: "title", title: "⚓" })));
  for (const rest of ["", torn.subarray(0, torn.indexOf("⚓") + 1).toString("latin1")]) {
    const file = await folder.write("a.jsonl", `${whole}${rest}`);
    expect(await readConversation(file)).toEqual({ head, lines: [one, two] });
  }
});

test("stored media are read again if they still match their digest; otherwise they are empty", async () => {
  await using folder = await temporaryFolder();
  const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");
  const names = ["stored", "changed", "missing"] as const;
  const [here, changed, missing] = names.map(digestOf) as [string, string, string];
  await folder.write(`a.media/${here}`, "stored");
  await folder.write(`a.media/${changed}`, "other");
  const part = (media: object) => ({ inlineData: { mimeType: "image/png", ...media } });
  const parts = (...medias: readonly object[]) =>
    line({ type: "content", content: { role: "user", parts: medias.map(part) } });
  const name = { displayName: "x" };
  const file = await folder.write(
    "a.jsonl",
    toLines(
      head,
      parts({ digest: here }, { digest: changed }, { digest: missing }, { data: "BBBB" }),
      // Neither of these was written by Fairlead, so both stay as they are.
      parts({ digest: here, ...name }, { digest: `../${here}` }),
      line({
        type: "call",
        id: "1",
        name: "t",
        args: { n: null },
        status: "ok",
        media: [{ mimeType: "a/b", digest: here }],
      }),
    ),
  );
  const data = Buffer.from("stored").toString("base64");
  expect((await readConversation(file)).lines).toEqual([
    parts({ data }, { data: "" }, { data: "" }, { data: "BBBB" }),
    parts({ digest: here, ...name }, { digest: `../${here}` }),
    line({ type: "call", id: "1", name: "t", args: { n: null }, status: "ok", media: [{ mimeType: "a/b", data }] }),
  ]);
});

test("a file that is missing or not a conversation is refused, naming the line and the reason", async () => {
  await using folder = await temporaryFolder();
  const missing = `${folder.path}/no.jsonl`;
  await expectRefusal(readConversation(missing), { code: "not_found", message: `there is no file ${missing}` });
  const input = line({ type: "input", text: "a" });
  for (const [text, reason] of [
    ["", "the first line is not the head of a conversation"],
    [JSON.stringify(head), "the first line is not the head of a conversation"],
    [toLines(head, input, { type: "input" }), "line 3 is invalid: the line has no time or no type"],
    [toLines(head, line({ type: "input" })), 'line 2 is invalid: its "input" is incomplete'],
  ] as const) {
    const file = await folder.write("a.jsonl", text);
    const message = `${file} cannot be read as a recorded conversation: ${reason}`;
    expect((await expectRefusal(readConversation(file), { code: "usage", message })).message).toBe(message);
  }
  await expectRefusal(readConversation(folder.path), { code: "usage", message: "it is not a regular file" });
});

test("a file that is not UTF-8 text is refused", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("a.jsonl", "");
  const { writeFile } = await import("node:fs/promises");
  await writeFile(file, Buffer.concat([Buffer.from(toLines(head)), Buffer.from([0xff, 0x0a])]));
  await expectRefusal(readConversation(file), { code: "usage", message: "the file is not valid UTF-8 text" });
});
