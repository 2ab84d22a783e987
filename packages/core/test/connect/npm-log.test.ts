import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { findNpmLog } from "../../src/connect/npm-log.ts";

const startedAt = Date.UTC(2030, 0, 2, 3, 4, 5, 678);
const name = "2030-01-02T03_04_05_678Z-debug-0.log";
const argv = (word: string): string =>
  `7 verbose title npm exec ${word}\n8 verbose argv "exec" "--yes" "--" "${word}"\n`;
const fetch = (address: string, code: string): string => `9 http fetch GET ${address} attempt 1 failed with ${code}\n`;

interface Given {
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly platform?: NodeJS.Platform;
}

/** The log of a start in a home with these files; the home's path is shown as `~`. */
async function found({ files = {}, env = {}, command = "npx", args = ["-y", "s@1"], platform = "linux" }: Given) {
  await using folder = await temporaryFolder();
  const home = folder.path;
  for (const [file, text] of Object.entries(files)) await folder.write(file, text.replaceAll("~", home));
  const given = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, value.replaceAll("~", home)]));
  const transport = { kind: "stdio", command, args, env: new Map() } as const;
  const log = await findNpmLog(transport, given, { home, platform }, startedAt);
  return log && { ...log, path: log.path.replaceAll(home, "~") };
}

test.each<[what: string, given: Given, path: string]>([
  ["the file of this start", { files: { [`.npm/_logs/${name}`]: argv("s@1") } }, `~/.npm/_logs/${name}`],
  ["the folder, if npm has written nothing", {}, "~/.npm/_logs"],
  ["the folder, if the file is of another package", { files: { [`.npm/_logs/${name}`]: argv("t") } }, "~/.npm/_logs"],
  [
    "the folder, if the file is older than the start",
    { files: { ".npm/_logs/2030-01-02T03_04_05_677Z-debug-0.log": argv("s@1") } },
    "~/.npm/_logs",
  ],
  [
    "the folder, if two files could be meant",
    {
      files: {
        [`.npm/_logs/${name}`]: argv("s@1"),
        ".npm/_logs/2030-01-02T03_04_06_000Z-debug-0.log": argv("s@1"),
      },
    },
    "~/.npm/_logs",
  ],
  [
    "the file among others",
    { files: { [`.npm/_logs/${name}`]: argv("s@1"), ".npm/_logs/2030-01-02T03_04_06_000Z-debug-0.log": argv("t") } },
    `~/.npm/_logs/${name}`,
  ],
  ["the folder of npm's cache in the environment", { env: { NPM_CONFIG_CACHE: "~/c" } }, "~/c/_logs"],
  ["the folder of npm's logs in the environment", { env: { npm_config_logs_dir: "~/l" } }, "~/l"],
  ["the folder of npm's cache in .npmrc", { files: { ".npmrc": "x=1\ncache = ~/c\n" } }, "~/c/_logs"],
  ["npm's own folder, if .npmrc needs npm to read it", { files: { ".npmrc": "cache=${HOME}/c" } }, "~/.npm/_logs"],
])("npm's log: %s", async (_, given, path) => {
  expect(await found(given)).toEqual({ path });
});

test.each<[Given]>([
  [{ command: "node" }],
  [{ command: "uvx" }],
  [{ command: "npm", args: ["run", "s"] }],
  [{ command: "bunx" }],
])("a program that npm does not start has no log of npm: %j", async (given) => {
  expect(await found(given)).toBeUndefined();
});

test.each<[what: string, text: string, failed: object | undefined]>([
  ["none", "", undefined],
  [
    "the last one",
    fetch("https://a/x", "EAI_AGAIN") + fetch("https://b:1/y", "ENOTFOUND"),
    { host: "b:1", code: "ENOTFOUND" },
  ],
  ["no account in it", fetch("https://u:secret@r.example/x", "EAI_AGAIN"), { host: "r.example", code: "EAI_AGAIN" }],
  ["not an address", fetch("nonsense", "EAI_AGAIN"), undefined],
])("the failed request in npm's log: %s", async (_, text, failed) => {
  const log = await found({ files: { [`.npm/_logs/${name}`]: argv("s@1") + text } });
  expect(log?.failed).toEqual(failed);
});
