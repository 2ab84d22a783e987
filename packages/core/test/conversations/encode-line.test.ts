import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { encodeLine, type RecordedLine } from "../../src/conversations/format.ts";

const hide = (text: string): string => text.replaceAll("stop", "(hidden)");
const encoded = (line: object): unknown => JSON.parse(encodeLine(line as RecordedLine, hide).text);

test("why a turn ended is kept even if a secret has the same text; what the model said is not", () => {
  expect(encoded({ type: "done", reason: "stop", text: "stop it", denied: 0, calls: 0 })).toEqual({
    type: "done",
    reason: "stop",
    text: "(hidden) it",
    denied: 0,
    calls: 0,
  });
  expect(encoded({ type: "retry", attempt: 1, delayMs: 2, reason: "stop" })).toMatchObject({ reason: "(hidden)" });
});

test("names and codes are kept, except inside arguments and results, where names are hidden too", () => {
  expect(encoded({ type: "call", name: "stop", args: { name: "stop", stop: [1, "a stop"] } })).toEqual({
    type: "call",
    name: "stop",
    args: { name: "(hidden)", "(hidden)": [1, "a (hidden)"] },
  });
});

test("a line that holds only names is written as it is", () => {
  expect(encoded({ type: "names", names: ["stop"] })).toEqual({ type: "names", names: ["stop"] });
});

test("media are replaced by their digest if they can be restored unchanged", () => {
  const data = Buffer.from("picture").toString("base64");
  const digest = createHash("sha256").update("picture").digest("hex");
  const part = (media: object) => ({ type: "message", parts: [{ inlineData: media }] });
  const { text, media } = encodeLine(part({ mimeType: "image/png", data }) as unknown as RecordedLine, hide);
  expect(JSON.parse(text)).toEqual(part({ mimeType: "image/png", digest }));
  expect([...media]).toEqual([[digest, Buffer.from("picture")]]);
  for (const other of [
    { mimeType: "image/png", data: `${data} ` },
    { mimeType: "image/png", data, name: "x" },
    { mimeType: 1, data },
  ])
    expect(encoded(part(other))).toEqual(part(other));
});

test("values nested too deeply are not recorded", () => {
  let deep: unknown = "x";
  for (let level = 0; level < 200; level += 1) deep = [deep];
  expect(encodeLine({ type: "call", args: deep } as unknown as RecordedLine, hide).text).toContain("nested too deeply");
});
