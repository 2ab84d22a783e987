import { sizeWords } from "@fairlead/core/text/size-words";
import { describe, expect, test } from "vitest";
import { display } from "../../../src/output/reports/result-reports.ts";
import type { ResultBlock } from "../../../src/shell/save-media.ts";

const shown = (content: readonly ResultBlock[], structuredContent?: unknown) => display(content, { structuredContent });

describe("a tool's answer is shown as text that can do no harm", () => {
  test.each([
    [[{ type: "text", text: "one\ntwo\n" }], "one\ntwo"],
    [
      [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      "a\nb",
    ],
    [[{ type: "text", text: "\u001b[2Jgone\u202e\u0007" }], "␛[2Jgone␇"],
    [[{ type: "image", mimeType: "image/png", data: "AAAA" }], "[image image/png, 3 B]"],
    [[{ type: "audio", mimeType: "audio/\nwav", data: "AAAA" }], "[audio audio/␊wav, 3 B]"],
    [[{ type: "resource_link", uri: "x://1", name: "n", title: "T" }], "Resource Link: T at x://1"],
    [[{ type: "resource_link", uri: "x://1", name: "n" }], "Resource Link: n at x://1"],
    [[{ type: "resource", resource: { uri: "x://1", text: "inside" } }], "inside"],
    [
      [{ type: "resource", resource: { uri: "x://1", mimeType: "application/pdf", blob: "AAAA" } }],
      "[resource application/pdf, 3 B]",
    ],
    // What makes no sense is named, never dropped.
    [[{ type: "unknown", raw: { type: "hologram" } }], '[content of the unknown type "hologram"]'],
    [[{ type: "unknown", raw: { type: "text", text: 7 } }], '[content of the unknown type "text"]'],
    [[{ type: "resource", resource: { uri: "x://1" } }], '[content of the unknown type "resource"]'],
    [[{ type: "unknown", raw: {} }], '[content of the unknown type ""]'],
    [[{ type: "unknown", raw: null }], '[content of the unknown type ""]'],
  ] as const)("%j", (content, text) => {
    expect(shown(content)).toBe(text);
  });

  test("structured content is shown when there is nothing else", () => {
    expect(shown([], { "a\u001b": [1] })).toBe('{\n  "a\\u001b": [\n    1\n  ]\n}');
    expect(shown([{ type: "text", text: "words" }], { a: 1 })).toBe("words");
    expect(shown([])).toBe("");
  });
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [1234, "1.2 kB"],
  [64_000_000, "64.0 MB"],
  [5_000_000_000_000, "5000.0 GB"],
])("%i bytes are %s", (bytes, words) => {
  expect(sizeWords(bytes)).toBe(words);
});
