import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { main } from "../../src/shell/main.ts";
import { machine } from "../support/machine.ts";

const call = ["call", "demo.picture"];
const read = ["read", "demo://picture"];

async function shown(env: Readonly<Record<string, string>>, ...argv: readonly string[]): Promise<string> {
  await using here = await machine();
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  await main(argv, {
    stdin: Readable.from([]),
    stdout,
    stderr: new PassThrough(),
    env: { ...here.env, ...env },
    cwd: here.project,
    home: here.home,
    platform: process.platform,
    signal: new AbortController().signal,
  });
  return String(stdout.read()).replaceAll("\u001b", "␛").replaceAll("\u0007", "␇");
}

const words = "[image image/png, 824 B]";
const caption = "A picture of waves, 64 × 64 pixels.";

test.each([
  ["xterm-kitty", /^␛_Ga=T,f=100,q=2,m=0;iVBORw0KGgo[\w+/=]+␛\\$/],
  ["xterm-256color", undefined],
])("on a terminal of the type %s", async (term, picture) => {
  const lines = (await shown({ TERM: term }, ...call)).trimEnd().split("\n");
  expect(lines).toEqual([caption, ...(picture ? [expect.stringMatching(picture)] : []), words]);
});

test.each([[["--images", "off"]], [["--json"]]])("but not with %j", async (options) => {
  for (const command of [call, read])
    expect(await shown({ TERM: "xterm-kitty" }, ...command, ...options)).not.toContain("␛");
});

test("a picture that is read is drawn as well", async () => {
  const lines = (await shown({ TERM: "xterm-kitty" }, ...read)).trimEnd().split("\n");
  expect(lines).toEqual([expect.stringMatching(/^␛_Ga=T/), "[resource image/png, 824 B]"]);
});
