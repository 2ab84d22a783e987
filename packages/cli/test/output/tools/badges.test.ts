import { describe, expect, test } from "vitest";
import { badges, harmless } from "../../../src/output/tools/lists.ts";
import { marked, plain } from "../../support/plain-style.ts";

describe("badges are what a server claims, in words", () => {
  test.each<[annotations: Record<string, unknown> | undefined, words: string]>([
    [undefined, ""],
    [{}, ""],
    [{ title: "T", readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }, ""],
    [{ readOnlyHint: true }, "[read-only]"],
    [{ readOnlyHint: true, idempotentHint: true }, "[read-only]"],
    [{ destructiveHint: true, idempotentHint: true, openWorldHint: true }, "[destructive] [idempotent] [open world]"],
    // Whoever says both is not believed the better one.
    [{ readOnlyHint: true, destructiveHint: true }, "[read-only] [destructive]"],
    [{ readOnlyHint: "true", destructiveHint: 1 }, ""],
  ])("%j", (annotations, words) => {
    expect(badges(annotations ? { annotations } : {}, plain).join(" ")).toBe(words);
  });

  test("colours only repeat what the words say", () => {
    const annotations = { readOnlyHint: true, destructiveHint: true };
    expect(badges({ annotations }, marked)).toEqual(["<green>[read-only]</>", "<yellow>[destructive]</>"]);
  });
});

describe("a tool to try is one that is said to be harmless", () => {
  const destructive = { annotations: { destructiveHint: true } };
  const silent = {};
  const readOnly = { annotations: { readOnlyHint: true } };
  test.each([
    [[destructive, silent, readOnly], readOnly],
    [[destructive, silent], silent],
    [[destructive], undefined],
    [[], undefined],
  ])("%j", (tools, expected) => {
    expect(harmless(tools)).toBe(expected);
  });
});
