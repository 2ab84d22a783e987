import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { answerTab } from "../../src/completion/answer-tab.ts";
import { writtenOutput } from "../support/written-output.ts";

const breaks = " \t\n\"'@><=;|&(:";

async function answered(words: readonly string[], cwd = "/"): Promise<readonly string[]> {
  const { context, stdout } = writtenOutput();
  await answerTab(words, { ...context.io, cwd }, context.out);
  return stdout().split("\n").slice(0, -1);
}

const bash = (line: string, cwd?: string): Promise<readonly string[]> => answered(["bash", breaks, line], cwd);

describe("bash gets", () => {
  test("the words that fit, each on a line", async () => {
    expect(await bash("fairlead secret ")).toEqual(["words", "set", "list", "remove"]);
    expect(await bash("fairlead secret s")).toEqual(["words", "set"]);
    expect(await bash("fairlead secret nothing")).toEqual(["words"]);
    expect(await bash("fairlead -p x --output-format ")).toEqual(["words", "text", "json", "stream-json"]);
    expect(await bash("fairlead -p x --output-format=j")).toEqual(["words", "json"]);
  });

  test("only the kind, where bash completes a path itself", async () => {
    expect(await bash("fairlead secret list > ")).toEqual(["files"]);
    expect(await bash("fairlead -C ")).toEqual(["folders"]);
  });

  test("the paths behind a prefix, and a folder stays open", async () => {
    await using folder = await temporaryFolder();
    await folder.write("docs/one two.md", "");
    expect(await bash("fairlead --settings=", folder.path)).toEqual(["open", "docs/"]);
    expect(await bash("fairlead --settings=docs/", folder.path)).toEqual(["words", String.raw`docs/one\ two.md`]);
  });
});

describe("zsh and fish get", () => {
  test("all words with their descriptions, to choose from", async () => {
    const [kind, ...words] = await answered(["fish", "secret", "s"]);
    expect(kind).toBe("words");
    expect(words.map((line) => line.split("\t")[0])).toEqual(["set", "list", "remove"]);
    expect(words.every((line) => /^\w+\t\S/.test(line))).toBe(true);
    expect(await answered(["zsh", "secret", ""])).toEqual(["words", ...words.map((line) => ` ${line}`)]);
  });

  test("for a path, the kind and the text before the path", async () => {
    await using folder = await temporaryFolder();
    expect(await answered(["zsh", "-C", ""], folder.path)).toEqual(["folders\t"]);
    expect(await answered(["fish", "--settings=a"], folder.path)).toEqual(["files\t--settings="]);
  });
});

test("another shell, and none at all, get no answer", async () => {
  expect(await answered(["powershell", "secret", ""])).toEqual([]);
  expect(await answered([])).toEqual([]);
});
