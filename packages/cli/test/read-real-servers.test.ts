import { join } from "node:path";
import { openHost } from "@fairlead/core/host";
import { loadConfiguration } from "@fairlead/core/trust/configuration";
import { everythingServer, realServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { processesOf } from "./left-over.ts";
import { type Ending, type Machine, machine, userFile } from "./machine.ts";
import { runProcess } from "./process.ts";

const { command, args } = realServer("everything", "stdio");
const text = "demo://resource/dynamic/text/{resourceId}";
const blob = "demo://resource/dynamic/blob/{resourceId}";

type Transport = "stdio" | "streamableHttp" | "sse";
type Run = (here: Machine, ...argv: readonly string[]) => Promise<Ending>;

/** `fairlead …`, and nothing is left of it. */
const runAlone: Run = async (here, ...argv) => {
  const ending = await runProcess(here, ...argv);
  expect(processesOf(here)).toEqual([]);
  return ending;
};

/** A process for every command on one transport; what differs on the others is not how the command ends. */
const runOver = (transport: Transport): Run =>
  transport === "stdio" ? runAlone : (here, ...argv) => here.run(...argv);

async function withEverything(transport: Transport) {
  const web = transport === "stdio" ? undefined : await everythingServer(transport);
  const here = await machine({ [userFile]: { mcpServers: { it: web ? { url: web.url } : { command, args } } } });
  return {
    here,
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await web?.[Symbol.asyncDispose]();
    },
  };
}

test.each(["stdio", "streamableHttp", "sse"] as const)(
  "the reference server's resources over %s",
  async (transport) => {
    await using place = await withEverything(transport);
    const { here } = place;
    const run = runOver(transport);
    // Its URIs begin with the name of the built-in server, and nothing is known of it yet.
    const first = await runAlone(here, "read", "demo://resource/dynamic/text/1");
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Resource 1: This is a plaintext resource/),
    });

    const listed = JSON.parse((await run(here, "resources", "--json")).stdout);
    expect(listed.resources.length).toBeGreaterThan(3);
    expect(listed.resourceTemplates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate)).toEqual([
      text,
      blob,
    ]);
    const { stdout: shown } = await run(here, "resources");
    expect(shown).toContain(`  ${text} --arg resourceId=… (Dynamic Text Resource, text/plain)`);

    const [{ uri }] = listed.resources;
    expect(await run(here, "read", uri)).toMatchObject({ code: 0, stdout: expect.stringMatching(/\S/) });
    expect(await run(here, "read", `@it:${uri}`)).toMatchObject({ code: 0, stdout: expect.stringMatching(/\S/) });

    expect(await run(here, "read", text, "--arg", "resourceId=7")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Resource 7: This is a plaintext resource/),
    });
    const saved = await run(here, "read", blob, "--arg", "resourceId=7", "--save", "blob.txt");
    expect(saved).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(` saved as ${join(here.project, "blob.txt")}\n`),
    });
    expect(await here.read("project/blob.txt")).toMatch(/^Resource 7: This is a base64 blob/);
    const refused = await run(here, "read", text, "--arg", "resourceId=x");
    expect(refused).toMatchObject({
      stdout: "",
      stderr: expect.stringContaining("Unknown resource: demo://resource/dynamic/text/x"),
    });
    expect([2, 7]).toContain(refused.code);
  },
);

test.each(["stdio", "streamableHttp", "sse"] as const)("the reference server's prompts over %s", async (transport) => {
  await using place = await withEverything(transport);
  const { here } = place;
  const run = runOver(transport);
  const { stdout: shown } = await run(here, "prompts");
  for (const line of ["/simple-prompt()", "/args-prompt(city, state?)", "/completable-prompt(department, name)"])
    expect(shown).toContain(`  ${line}\n`);

  const simple = await runAlone(here, "prompt", "simple-prompt");
  expect(simple).toMatchObject({ code: 0, stdout: expect.stringMatching(/^user:\n {2}\S/), stderr: "" });
  expect(await run(here, "prompt", "/it:args-prompt", "city=Oslo", "--arg", "state=NO")).toEqual({
    code: 0,
    stdout: "user:\n  What's weather in Oslo, NO?\n",
    stderr: "",
  });
  expect(await run(here, "prompt", "completable-prompt", "Sales", "Eve")).toEqual({
    code: 0,
    stdout: "user:\n  Please promote Eve to the head of the Sales team.\n",
    stderr: "",
  });
  const embedded = await run(here, "prompt", "resource-prompt", "resourceType=Text", "resourceId=3");
  expect(embedded.stdout).toMatch(/user:\n {2}\[resource demo:\/\/resource\/dynamic\/text\/3\]\n {2}Resource 3: /);
  expect(await run(here, "prompt", "args-prompt")).toEqual({
    code: 2,
    stdout: "",
    stderr: `fairlead: prompt args-prompt of "it": city is missing\n  next: fairlead prompt args-prompt city=… [state=…]\n`,
  });
});

test.each(["stdio", "streamableHttp", "sse"] as const)(
  "the reference server's completions over %s",
  async (transport) => {
    await using place = await withEverything(transport);
    const { here } = place;
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
