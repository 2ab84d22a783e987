import { expect, it } from "vitest";
import { byeLine, failedLine, readNote, sentLine } from "../../src/relay/speech.ts";

it.each([
  [sentLine(7, "files.read"), { kind: "sent", id: "7", subject: "files.read" }],
  [sentLine("7", "a b\n"), { kind: "sent", id: '"7"', subject: "a b\n" }],
  [failedLine("no settings", "fairlead doctor"), { kind: "failed", message: "no settings", next: "fairlead doctor" }],
  [failedLine("no settings", undefined), { kind: "failed", message: "no settings", next: undefined }],
  [byeLine, { kind: "bye" }],
])("the relay reads the line that the host writes: %j", (line, note) => {
  expect(line.indexOf("\n")).toBe(line.length - 1);
  expect(readNote(line)).toEqual(note);
});

it.each([
  ["sent [7]\n", { kind: "sent", id: "7", subject: "" }],
  ["failed {}\n", { kind: "failed", message: "the host failed", next: undefined }],
  ["failed [\n", { kind: "failed", message: "the host failed", next: undefined }],
  ["later [1]\n", undefined],
  ["\n", undefined],
])("a line that another version writes is read as far as it is understood: %j", (line, note) => {
  expect(readNote(line)).toEqual(note);
});
