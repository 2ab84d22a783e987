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
    [{ idempotentHint: true }, "[idempotent]"],
    [{ idempotentHint: true, readOnlyHint: false }, "[idempotent]"],
  ])("%j", (annotations, words) => {
    expect(badges(annotations ? { annotations } : {}, plain).join(" ")).toBe(words);
  });

  test("colours only repeat what the words say", () => {
    const annotations = { readOnlyHint: true, destructiveHint: true };
    expect(badges({ annotations }, marked)).toEqual(["<green>[read-only]</>", "<yellow>[destructive]</>"]);
  });
});

describe("a tool to try is one that is said to be harmless", () => {
  type Tool = { readonly annotations?: Record<string, boolean> };
  const destructive: Tool = { annotations: { destructiveHint: true } };
  const silent: Tool = {};
  const readOnly: Tool = { annotations: { readOnlyHint: true } };
  test.each<[tools: readonly Tool[], expected: Tool | undefined]>([
    [[destructive, silent, readOnly], readOnly],
    [[destructive, silent], silent],
    [[silent, { annotations: {} }, destructive], silent],
    [[silent, readOnly, { annotations: { readOnlyHint: true, openWorldHint: true } }], readOnly],
    [
      [{ annotations: { destructiveHint: true, readOnlyHint: false } }, { annotations: { destructiveHint: false } }],
      { annotations: { destructiveHint: false } },
    ],
    [[destructive], undefined],
    [[], undefined],
  ])("%j", (tools, expected) => {
    expect(harmless(tools)).toEqual(expected);
  });
});
