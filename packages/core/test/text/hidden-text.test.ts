import { expect, test } from "vitest";
import { fitsText, hidden, withoutSecrets } from "../../src/text/hidden-text.ts";

test.each([
  ["plain", "plain", true],
  ["plain", "plain text", false],
  ["plain text", "plain", false],
  ["(hidden)", "", true],
  ["(hidden)", "anything", true],
  ["key=(hidden)", "key=abc", true],
  ["key=(hidden)", "the key=abc", false],
  ["key=(hidden)", "value=abc", false],
  ["(hidden).", "abc.", true],
  ["(hidden).", "abc. ", false],
  ["(hidden).", ".abc", false],
  ["a(hidden)b", "ab", true],
  ["a(hidden)b", "a-b", true],
  ["a(hidden)b", "a-c", false],
  ["a(hidden)b", "c-b", false],
  ["a(hidden)b(hidden)c", "abc", true],
  ["a(hidden)b(hidden)c", "a1b2c", true],
  ["a(hidden)b(hidden)c", "a1c", false],
  ["a(hidden)b(hidden)c(hidden)d", "a1b2c3d", true],
  ["a(hidden)b(hidden)c(hidden)d", "a1c2b3d", false],
  // The middle part begins directly after the first one, at the first place where it fits.
  ["(hidden)b(hidden)b", "bb", true],
  ["(hidden)b(hidden)b", "b", false],
  ["(hidden)b(hidden)c(hidden)", "b-c-b", true],
  // The first and the last part may not share characters.
  ["aba(hidden)aba", "aba", false],
  ["aba(hidden)aba", "ababa", false],
  ["aba(hidden)aba", "abaaba", true],
  ["a(hidden)aba(hidden)a", "aabaa", true],
  ["a(hidden)aba(hidden)a", "aaba", false],
])("%j can stand for %j: %j", (shown, text, fits) => {
  expect(fitsText(shown, text)).toBe(fits);
});

test("every place of every secret is hidden, and an empty secret hides nothing", () => {
  expect(hidden).toBe("(hidden)");
  expect(withoutSecrets("a=one b=two c=one", ["one", undefined, "", "two"])).toBe("a=(hidden) b=(hidden) c=(hidden)");
  expect(withoutSecrets("nothing", [])).toBe("nothing");
});
