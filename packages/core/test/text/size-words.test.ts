import { expect, test } from "vitest";
import { sizeWords } from "../../src/text/size-words.ts";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [1549, "1.5 kB"],
  [12_345, "12.3 kB"],
  [999_949, "999.9 kB"],
  [999_950, "1.0 MB"],
  [1_000_000, "1.0 MB"],
  [250_000_000, "250.0 MB"],
  [999_950_000, "1.0 GB"],
  [1_000_000_000, "1.0 GB"],
  [7_600_000_000_000, "7600.0 GB"],
])("the user reads %i bytes as %s", (bytes, words) => {
  expect(sizeWords(bytes)).toBe(words);
});
