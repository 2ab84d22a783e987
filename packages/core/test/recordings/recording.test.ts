import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { headerLine, isRecording, parseRecording, readRecording } from "../../src/recordings/recording.ts";
import { expectRefusal } from "../support/expect-refusal.ts";

const header = headerLine("files", "2026-01-31T09:30:00.000Z");
const message = { c: "a", at: 0, from: "client", message: { id: 1 } };
const reply = { ...message, at: 2.5, from: "server" };
const lines = (...values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");

test("a recording begins with a header that names the format, the server and the time", () => {
  const parsed = { v: 1, kind: "fairlead.recording", server: "files", recordedAt: "2026-01-31T09:30:00.000Z" };
  expect(header).toBe(`${JSON.stringify(parsed)}\n`);
  expect(parseRecording(header, "r")).toEqual({ header: parsed, messages: [] });
});

test("a text is a recording if its first line is such a header", () => {
  expect(isRecording(`${header}{}\n`)).toBe(true);
  expect(isRecording(`{}\n${header}`)).toBe(false);
  expect(isRecording('{"kind":"fairlead.other"}\n')).toBe(false);
  expect(isRecording("no JSON\n")).toBe(false);
});

test("messages are read in order; further headers and an incomplete last line are skipped", () => {
  const text = `${header}${lines(message, reply)}${header}${lines(message)}`;
  expect(parseRecording(text, "r").messages).toEqual([message, reply, message]);
  expect(parseRecording(`${text}${JSON.stringify(reply)}`, "r").messages).toHaveLength(3);
});

test.each([
  ["", "the first line is not the header of a recording"],
  ["{}\n", "the first line is not the header of a recording"],
  [header.replace('"v":1', '"v":2'), "the file has format version 2, but this version of Fairlead reads version 1"],
  [`${header}${lines(message)}x\n`, "line 3 is not a message"],
  [`${header}${lines({ ...message, c: 1 })}`, "line 2 is not a message"],
  [`${header}${lines({ ...message, at: "0" })}`, "line 2 is not a message"],
  [`${header}${lines({ ...message, from: "host" })}`, "line 2 is not a message"],
  [`${header}${lines({ ...message, message: [] })}`, "line 2 is not a message"],
])("%j is refused: %s", (text, why) => {
  expect(() => parseRecording(text, "r.jsonl")).toThrow(
    expect.objectContaining({
      code: "settings_invalid",
      message: `r.jsonl is not a usable recording: ${why}`,
      next: "fairlead record SERVER -o r.jsonl",
    }),
  );
});

test("a file is read; a missing file and a folder are refused, naming them", async () => {
  await using folder = await temporaryFolder();
  await folder.write("r.jsonl", `${header}${lines(message)}`);
  expect((await readRecording(join(folder.path, "r.jsonl"))).messages).toEqual([message]);
  const missing = join(folder.path, "no.jsonl");
  await expectRefusal(readRecording(missing), {
    code: "not_found",
    message: `no recording ${missing}: the file does not exist`,
    next: `fairlead record SERVER -o ${missing}`,
  });
  await expectRefusal(readRecording(folder.path), { code: "internal", message: folder.path });
});
