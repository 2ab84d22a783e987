import { safe } from "@fairlead/core/text/safe-text";
import { expect, test } from "vitest";
import { errorDocument, errorLines } from "../../../src/output/output.ts";
import { differenceLines } from "../../../src/output/policy/rule-lines.ts";

test("the user sees the old and the new value of each changed member, with hidden characters made visible", () => {
  const differences = [
    { member: "title\u001b", before: "a\u001b", after: "b\u001b" },
    { member: "added", after: "" },
    { member: "removed", before: "" },
    { member: "neither" },
  ];
  expect(differenceLines(differences, safe`> `)).toEqual([
    "> title␛",
    ">   - a␛",
    ">   + b␛",
    "> added",
    ">   + ",
    "> removed",
    ">   - ",
    "> neither",
  ]);
});

test("the user reads an error's next step on a second line", () => {
  expect(errorLines({ message: "m\u001b", next: "n\u001b" })).toBe("m␛\n  next: n␛");
  expect(errorLines({ message: "m", next: "" })).toBe("m\n  next: ");
  expect(errorLines({ message: "m" })).toBe("m");
  expect(errorDocument({ code: "usage", message: "m", next: "n" })).toEqual({ code: "usage", message: "m", next: "n" });
  expect(JSON.stringify(errorDocument({ code: "usage", message: "m", next: undefined }))).not.toContain("next");
});
