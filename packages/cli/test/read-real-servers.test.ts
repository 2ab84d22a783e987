import { join } from "node:path";
import { openHost } from "@fairlead/core/host";
import { loadConfiguration } from "@fairlead/core/trust/configuration";
import { type EverythingServer, everythingServer, realServer } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { processesOf } from "./support/left-over.ts";
import { type Ending, type Machine, machine, userFile } from "./support/machine.ts";
import { runProcess } from "./support/process.ts";

const text = "demo://resource/dynamic/text/{resourceId}";
const blob = "demo://resource/dynamic/blob/{resourceId}";

let http: EverythingServer;
let sse: EverythingServer;

beforeAll(async () => {
  [http, sse] = await Promise.all([everythingServer("streamableHttp"), everythingServer("sse")]);
});

afterAll(async () => {
  await Promise.all([http, sse].map((server) => server[Symbol.asyncDispose]()));
});

/** A machine whose one server, `it`, is the reference server. */
function withEverything(transport: string): Promise<Machine> {
  const web = { streamableHttp: http, sse }[transport];
  return machine({ [userFile]: { mcpServers: { it: web ? { url: web.url } : realServer("everything", "stdio") } } });
}

/** `fairlead …` as a process of its own, and nothing is left of it. */
async function runAlone(here: Machine, ...argv: readonly string[]): Promise<Ending> {
  const ending = await runProcess(here, ...argv);
  expect(processesOf(here)).toEqual([]);
  return ending;
}

// Every command starts it anew: what does not depend on the transport is seen on the web.
test("the reference server's resources and prompts over stdio", async () => {
  await using here = await withEverything("stdio");
  // Its URIs begin with the name of the built-in server, and nothing is known of it yet.
  expect(await runAlone(here, "read", "demo://resource/dynamic/text/1")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Resource 1: This is a plaintext resource/),
  });
  const saved = await here.run("read", blob, "--arg", "resourceId=7", "--save", "blob.txt");
  expect(saved).toMatchObject({ code: 0 });
  expect(await here.read("project/blob.txt")).toMatch(/^Resource 7: This is a base64 blob/);
  expect(await here.run("prompt", "/it:args-prompt", "city=Oslo", "--arg", "state=NO")).toEqual({
    code: 0,
    stdout: "user:\n  What's weather in Oslo, NO?\n",
    stderr: "",
  });
  expect(processesOf(here)).toEqual([]);
});

describe.each(["streamableHttp", "sse"])("the reference server over %s", (transport) => {
  test("its resources", async () => {
    await using here = await withEverything(transport);
    const first = await runAlone(here, "read", "demo://resource/dynamic/text/1");
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Resource 1: This is a plaintext resource/),
    });

    const listed = JSON.parse((await here.run("resources", "--json")).stdout);
    expect(listed.resources.length).toBeGreaterThan(3);
    expect(listed.resourceTemplates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate)).toEqual([
      text,
      blob,
    ]);
    const { stdout: shown } = await here.run("resources");
    expect(shown).toContain(`  ${text} --arg resourceId=… (Dynamic Text Resource, text/plain)`);

    const [{ uri }] = listed.resources;
    expect(await here.run("read", uri)).toMatchObject({ code: 0, stdout: expect.stringMatching(/\S/) });
    expect(await here.run("read", `@it:${uri}`)).toMatchObject({ code: 0, stdout: expect.stringMatching(/\S/) });

    expect(await here.run("read", text, "--arg", "resourceId=7")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Resource 7: This is a plaintext resource/),
    });
    const saved = await here.run("read", blob, "--arg", "resourceId=7", "--save", "blob.txt");
    expect(saved).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(` saved as ${join(here.project, "blob.txt")}\n`),
    });
    expect(await here.read("project/blob.txt")).toMatch(/^Resource 7: This is a base64 blob/);
    const refused = await here.run("read", text, "--arg", "resourceId=x");
    expect(refused).toMatchObject({
      stdout: "",
      stderr: expect.stringContaining("Unknown resource: demo://resource/dynamic/text/x"),
    });
    expect([2, 7]).toContain(refused.code);
  });

  test("its prompts", async () => {
    await using here = await withEverything(transport);
    const { stdout: shown } = await here.run("prompts");
    for (const line of ["/simple-prompt()", "/args-prompt(city, state?)", "/completable-prompt(department, name)"])
      expect(shown).toContain(`  ${line}\n`);

    const simple = await here.run("prompt", "simple-prompt");
    expect(simple).toMatchObject({ code: 0, stdout: expect.stringMatching(/^user:\n {2}\S/), stderr: "" });
    expect(await here.run("prompt", "/it:args-prompt", "city=Oslo", "--arg", "state=NO")).toEqual({
      code: 0,
      stdout: "user:\n  What's weather in Oslo, NO?\n",
      stderr: "",
    });
    expect(await here.run("prompt", "completable-prompt", "Sales", "Eve")).toEqual({
      code: 0,
      stdout: "user:\n  Please promote Eve to the head of the Sales team.\n",
      stderr: "",
    });
    const embedded = await here.run("prompt", "resource-prompt", "resourceType=Text", "resourceId=3");
    expect(embedded.stdout).toMatch(/user:\n {2}\[resource demo:\/\/resource\/dynamic\/text\/3\]\n {2}Resource 3: /);
    expect(await here.run("prompt", "args-prompt")).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairlead: prompt args-prompt of "it": city is missing\n  next: fairlead prompt args-prompt city=… [state=…]\n`,
    });
  });
});

test.each(["stdio", "streamableHttp", "sse"] as const)(
  "the reference server's completions over %s",
  async (transport) => {
    await using here = await withEverything(transport);
    const { env, home, project: cwd } = here;
    const configuration = await loadConfiguration({
      environment: { env, home, cwd, platform: process.platform },
      workspace: true,
    });
    await using host = openHost(configuration);
    const prompt = { kind: "prompt", server: "it", prompt: "completable-prompt" } as const;
    expect(await host.complete({ of: prompt, name: "department", value: "S" })).toEqual(["Sales", "Support"]);
    expect(await host.complete({ of: prompt, name: "name", value: "", given: { department: "Sales" } })).toEqual([
      "David",
      "Eve",
      "Frank",
    ]);
    const template = { kind: "template", server: "it", uriTemplate: text } as const;
    expect(await host.complete({ of: template, name: "resourceId", value: "12" })).toEqual(["12"]);
    expect(await host.complete({ of: template, name: "resourceId", value: "x" })).toEqual([]);
  },
);
