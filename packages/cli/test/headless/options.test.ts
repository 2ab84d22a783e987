import { Command } from "commander";
import { expect, test } from "vitest";
import { defineOptions } from "../../src/headless/options.ts";
import { resolve } from "../../src/shell/resolve.ts";

const command = new Command();
defineOptions(command);
const spellings = command.options.flatMap(({ flags }) =>
  (flags.match(/-{1,2}[a-z-]+/g) ?? []).map((flag) => [flag, flags.includes("<")] as const),
);

test.each(spellings)("%s may stand before the prompt, and its value is no command", (flag, takesValue) => {
  const argv = [flag, ...(takesValue ? ["call"] : []), "-p", "Hello"];
  expect(resolve(argv)).toMatchObject({ kind: "verb", words: "-p", argv });
});

test.each([[["-p", "--help"]], [["-p", "Hello", "-h"]], [["--model", "x", "-p", "--help"]]])(
  "%j asks for its help",
  (argv) => {
    expect(resolve(argv)).toMatchObject({ kind: "verb", words: "-p", argv: ["--help"] });
  },
);
