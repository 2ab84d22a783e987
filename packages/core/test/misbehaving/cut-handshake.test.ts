import { pathToFileURL } from "node:url";
import { programServer, scaled, seed, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { answers, hostOf, processesOf, stateOf } from "./beside.ts";

const serversPerHost = 20;
const isLong = scaled(10) === 10;

/** What a server says until it is connected and its lists are read. */
async function recordHandshake(folder: TemporaryFolder): Promise<string> {
  const [program = ""] = programServer("well-behaved").args;
  const file = JSON.stringify(`${folder.path}/recorded`);
  // It writes down what it says before it says it: a test that has received a message finds it there.
  const code = `import { appendFileSync } from "node:fs";
    import { serve } from ${JSON.stringify(new URL("serve.mjs", pathToFileURL(program)).href)};
    serve({}, (text) => { appendFileSync(${file}, text); process.stdout.write(text); });`;
  const args = ["--input-type=module", "-e", code];
  await using host = await hostOf(folder, { good: { command: process.execPath, args } });
  await host.start();
  expect(stateOf(host, "good")).toMatchObject({ status: "connected" });
  // The last message is whole without the end of its line.
  return (await folder.read("recorded")).trimEnd();
}

/** Every byte; or those beside the ends of lines, and some between them from a random one on. */
function cuts(said: string, start: number): readonly number[] {
  const bytes = Array.from({ length: said.length }, (_, at) => at);
  const isBeside = (at: number): boolean => said.slice(Math.max(at - 1, 0), at + 1).includes("\n");
  return isLong ? bytes : bytes.filter((at) => at % 100 === start % 100 || isBeside(at));
}

function exited(name: string): object {
  const noise = String.raw`a line on stdout is not a message: "\{.*"`;
  return {
    status: "disconnected",
    reason: "server_exited",
    message: expect.stringMatching(new RegExp(`^"${name}" exited with code 9( during initialize)?(; ${noise})?$`)),
    next: expect.stringMatching(/^Check the command and its arguments \(.*\/settings\.json:\d+\)\.$/),
  };
}

test("a server that dies at any byte of what it says until it is connected has exited, and another has not", {
  timeout: isLong ? 600_000 : 60_000,
}, async () => {
  await using folder = await temporaryFolder();
  const said = await recordHandshake(folder);
  expect(said.split("\n").map((line) => JSON.parse(line) as object)).toHaveLength(3);
  const start = seed();
  const names = cuts(said, start).map((cut) => `cut-${cut}`);
  for (let at = 0; at < names.length; at += serversPerHost) {
    const batch = names.slice(at, at + serversPerHost);
    const odd = Object.fromEntries(batch.map((name) => [name, programServer("cut", name.slice("cut-".length))]));
    await using host = await hostOf(folder, { ...odd, good: programServer("well-behaved") });
    await host.start();
    const states = batch.map((name) => [name, stateOf(host, name)]);
    expect(states, `FAIRLEAD_SEED=${start}`).toEqual(batch.map((name) => [name, exited(name)]));
    await answers(host, "good");
    await host[Symbol.asyncDispose]();
    expect(processesOf(folder)).toEqual([]);
  }
});
