import { expect, it } from "vitest";
import {
  byeLine,
  failedLine,
  isRelayNames,
  namesLine,
  readNote,
  sentLine,
  toSeenNames,
} from "../../src/relay/speech.ts";

it.each([
  [sentLine(7, "files.read"), { kind: "sent", id: "7", subject: "files.read" }],
  [sentLine("7", "a b\n"), { kind: "sent", id: '"7"', subject: "a b\n" }],
  [failedLine("no settings", "fairlead doctor"), { kind: "failed", message: "no settings", next: "fairlead doctor" }],
  [failedLine("no settings", undefined), { kind: "failed", message: "no settings", next: undefined }],
  [byeLine, { kind: "bye" }],
  [
    namesLine([{ list: "tools", server: "a", name: "x\n", as: "a__x" }]),
    { kind: "names", names: [["tools", "a", "x\n", "a__x"]] },
  ],
  [namesLine([{ list: "tools", server: "a", name: "x", as: "x" }]), { kind: "names", names: [["tools", "a", "x"]] }],
])("the relay reads the line that the host writes: %j", (line, note) => {
  expect(line.indexOf("\n")).toBe(line.length - 1);
  expect(readNote(line)).toEqual(note);
});

it.each([
  ["sent [7]\n", { kind: "sent", id: "7", subject: "" }],
  ["failed {}\n", { kind: "failed", message: "the host failed", next: undefined }],
  ["failed [\n", { kind: "failed", message: "the host failed", next: undefined }],
  ["names [1]\n", { kind: "names", names: [] }],
  ["later [1]\n", undefined],
  ["\n", undefined],
])("a line that another version writes is read as far as it is understood: %j", (line, note) => {
  expect(readNote(line)).toEqual(note);
});

it("a host takes names as texts only, and leaves out lists that it does not know", () => {
  expect([undefined, {}, [["tools", "a"]], [["tools", "a", "x", 1]]].map(isRelayNames)).not.toContain(true);
  const given = [
    ["tools", "a", "x"],
    ["tools", "b", "x", "b__x"],
    ["later", "a", "y"],
    ["skills", "a", "skill://s/SKILL.md", '["a","skill://s/SKILL.md"]'],
  ] as const;
  expect(isRelayNames(given)).toBe(true);
  expect(toSeenNames(given)).toEqual([
    { list: "tools", server: "a", name: "x", as: "x" },
    { list: "tools", server: "b", name: "x", as: "b__x" },
    { list: "skills", server: "a", name: "skill://s/SKILL.md", as: '["a","skill://s/SKILL.md"]' },
  ]);
});
