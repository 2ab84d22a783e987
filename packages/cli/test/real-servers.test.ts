import { join } from "node:path";
import { type EverythingServer, everythingServer, realServer } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine } from "./support/command-line.ts";
import { processesOf } from "./support/left-over.ts";
import { type Ending, type Machine, machine, userFile } from "./support/machine.ts";
import { runProcess } from "./support/process.ts";

let http: EverythingServer;
let sse: EverythingServer;

beforeAll(async () => {
  [http, sse] = await Promise.all([everythingServer("streamableHttp"), everythingServer("sse")]);
});

afterAll(async () => {
  await Promise.all([http, sse].map((server) => server[Symbol.asyncDispose]()));
});

/** A machine with servers that people use in its settings, the reference server over each of its transports. */
async function village(): Promise<Machine> {
  const here = await machine({ "project/ahoy.txt": "Ahoy from a file." });
  await here.write(userFile, {
    mcpServers: {
      pipe: realServer("everything", "stdio"),
      http: { httpUrl: http.url },
      // What it speaks is found out: there is no streamable HTTP at this address.
      sse: { url: sse.url },
      filesystem: realServer("filesystem", here.project),
      memory: { ...realServer("memory"), env: { MEMORY_FILE_PATH: join(here.path, "memory.jsonl") } },
      gitlab: { ...realServer("gitlab"), env: { GITLAB_PERSONAL_ACCESS_TOKEN: "none" } },
    },
  });
  return here;
}

/** `fairlead call …` as a process of its own, and nothing is left of it. */
async function callAlone(here: Machine, ...argv: readonly string[]): Promise<Ending> {
  const ending = await runProcess(here, "call", ...argv);
  expect(processesOf(here)).toEqual([]);
  return ending;
}

/** `fairlead call …` in this process: the server's process is what may be left. */
async function callHere(here: Machine, ...argv: readonly string[]): Promise<Ending> {
  const ending = await here.run("call", ...argv);
  expect(processesOf(here)).toEqual([]);
  return ending;
}

const everything = { tools: 15, prompts: 4, resources: 7, protocolVersion: "2025-11-25" };
const toolsOnly = { prompts: 0, resources: 0, protocolVersion: "2025-11-25" };

test("servers that people use are listed with what they offer, and nothing is left of them", async () => {
  await using here = await village();
  const { code, stdout, stderr } = await runProcess(here, "mcp", "list", "--json");
  expect(processesOf(here)).toEqual([]);
  expect({ code, stderr, ...JSON.parse(stdout) }).toEqual({
    code: 0,
    stderr: "",
    schemaVersion: 1,
    discoveryState: "completed",
    servers: [
      { name: "pipe", transport: "stdio", ...everything },
      { name: "http", transport: "http", share: "client", ...everything },
      { name: "sse", transport: "sse", share: "client", ...everything },
      { name: "filesystem", transport: "stdio", ...toolsOnly, tools: 14 },
      { name: "memory", transport: "stdio", ...toolsOnly, tools: 9, resources: 1 },
      { name: "gitlab", transport: "stdio", ...toolsOnly, tools: 9, protocolVersion: "2024-11-05" },
    ].map((server) => ({
      scope: "user",
      status: "connected",
      share: "all",
      tokens: expect.any(Number) as number,
      ...(server.transport === "stdio" && { sandbox: "off" }),
      ...server,
    })),
    problems: [],
  });
});

describe("servers that people use are tested step by step", () => {
  const steps = ["definition", "roots", "sandbox", "program", "environment", "start", "handshake", "list"];
  const onTheWeb = ["definition", "roots", "handshake", "list"];
  const all = "connected: 15 tools, 4 prompts, 7 resources, 2 resource templates";

  test("each over its transport", async () => {
    await using here = await village();
    const names = ["pipe", "http", "sse", "filesystem", "memory", "gitlab"];
    const endings = await Promise.all(names.map((name) => here.run("mcp", "test", name)));
    const told = endings.map(({ code, stdout }) => ({
      code,
      // The first word of each line that begins a step, once.
      steps: [...new Set(stdout.match(/(?<=^ {2})[a-z]+/gm))].filter((step) => step !== "stderr" && step !== "note"),
      over: / over (.+?) {2}/.exec(stdout)?.[1],
      result: stdout.trimEnd().split("\n").at(-1),
    }));
    expect(told).toEqual([
      { code: 0, steps, over: "stdio", result: all },
      { code: 0, steps: onTheWeb, over: "streamable HTTP", result: all },
      { code: 0, steps: onTheWeb, over: "HTTP+SSE", result: all },
      { code: 0, steps, over: "stdio", result: "connected: 14 tools" },
      { code: 0, steps, over: "stdio", result: "connected: 9 tools, 1 resource" },
      { code: 0, steps, over: "stdio", result: "connected: 9 tools" },
    ]);
  });

  test("and one that lacks its token says which", async () => {
    await using here = await machine({ [userFile]: { mcpServers: { gitlab: realServer("gitlab") } } });
    const { code, stdout, stderr } = await here.run("mcp", "test", "gitlab");
    expect(processesOf(here)).toEqual([]);
    expect(code).toBe(4);
    expect(stdout).toContain("\n  stderr       GITLAB_PERSONAL_ACCESS_TOKEN environment variable is not set\n");
    expect(stderr).toBe(
      'fairlead: "gitlab" exited with code 1 during initialize; stderr: GITLAB_PERSONAL_ACCESS_TOKEN environment variable is not set\n' +
        `  next: If the server needs credentials, add them to "env" of "gitlab" (${join(here.path, userFile)}:3): servers get only the variables in their "env".\n`,
    );
  });
});

test("a server that was reached by SSE is remembered as such", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { old: { url: sse.url } } } });
  expect((await here.run("mcp", "list", "-v")).stdout).toContain(`  sse: ${sse.url}\n`);
  expect((await here.run("mcp", "list", "--cached", "-v")).stdout).toContain(`  sse: ${sse.url}\n`);
  const { stdout } = await here.run("mcp", "list", "--cached", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ servers: [{ name: "old", status: "disconnected", transport: "sse" }] });
});

describe("the reference server is called", () => {
  const ahoy = { code: 0, stdout: "Echo: ahoy\n", stderr: "" };

  test("over stdio, from the settings and as it is typed", async () => {
    await using here = await village();
    expect(await callAlone(here, "pipe.echo", "message=ahoy")).toEqual(ahoy);
    const line = commandLine(realServer("everything", "stdio"));
    expect(await here.run("call", "--stdio", line, "echo", "message=ahoy")).toEqual(ahoy);
    const steps = await here.run("call", "pipe.trigger-long-running-operation", "duration=0.2", "steps=2");
    expect(steps).toMatchObject({ code: 0, stderr: expect.stringMatching(/^pipe\.trigger-long\S+ 1\/2\n/) });
  });

  test.each(["http", "sse"])("over %s, from the settings and as it is typed", async (name) => {
    await using here = await village();
    const { url } = name === "http" ? http : sse;
    expect(await callAlone(here, `${name}.echo`, "message=ahoy")).toEqual(ahoy);
    // How it is written makes no difference to the process.
    expect(await here.run("call", `${name}.echo(message: 'ahoy')`)).toEqual(ahoy);
    expect(await here.run("call", url, "echo", "message=ahoy")).toEqual(ahoy);
    expect(await here.run("call", `${name}.get-sum`, "a=2", "b=40")).toEqual({
      code: 0,
      stdout: "The sum of 2 and 40 is 42.\n",
      stderr: "",
    });
    const steps = await here.run("call", `${name}.trigger-long-running-operation`, "duration=0.2", "steps=2");
    expect(steps).toMatchObject({ code: 0, stderr: expect.stringMatching(/^\w+\.trigger-long\S+ 1\/2\n/) });
    const { stdout } = await here.run("call", `${name}.get-tiny-image`, "--save", "pictures", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      saved: [join(here.project, `pictures/${name}-get-tiny-image-1.png`)],
    });
  });
});

test("the file server reads a file, and says in its own words that one is not there: exit code 7", async () => {
  await using here = await village();
  expect(await callHere(here, "filesystem.read_text_file", `path=${join(here.project, "ahoy.txt")}`)).toMatchObject({
    code: 0,
    stdout: "Ahoy from a file.\n",
  });
  const path = join(here.project, "nonexistent");
  expect(await here.run("call", "filesystem.read_text_file", `path=${path}`)).toEqual({
    code: 7,
    stdout: expect.stringContaining(`ENOENT: no such file or directory, open '${path}'`),
    stderr: "fairlead: filesystem.read_text_file reported an error\n",
  });
  expect(await here.run("call", "filesystem.read_text_file", "path=/nonexistent")).toEqual({
    code: 7,
    stdout: `Access denied - path outside allowed directories: /nonexistent not in ${here.project}\n`,
    stderr: "fairlead: filesystem.read_text_file reported an error\n",
  });
});

test("in a trusted folder the file server accesses the folder of its arguments, and not the project", async () => {
  await using here = await machine({ "notes/a.txt": "From the notes." });
  const notes = join(here.path, "notes");
  await here.write(userFile, { mcpServers: { files: realServer("filesystem", notes) } });
  await here.run("trust", "add", "--yes");
  const reading = await here.run("call", "files.read_text_file", `path=${join(notes, "a.txt")}`);
  expect(reading).toMatchObject({ code: 0, stdout: "From the notes.\n" });
  const allowed = await here.run("call", "files.list_allowed_directories");
  expect(allowed.stdout).toBe(`Allowed directories:\n${notes}\n`);
  const writing = await here.run("call", "files.write_file", `path=${join(here.project, "b.txt")}`, "content=x");
  expect(writing).toMatchObject({ code: 7, stdout: expect.stringContaining("outside allowed directories") });
});

test("the memory server keeps what it is told, from one call to the next", async () => {
  await using here = await village();
  const entity = { name: "Ada", entityType: "person", observations: ["counts"] };
  const told = await here.run("call", "memory.create_entities", `entities=${JSON.stringify([entity])}`);
  expect(told).toMatchObject({ code: 0 });
  const more = "memory.add_observations(observations: [{entityName: 'Ada', contents: ['sails']}])";
  expect(await here.run("call", more)).toMatchObject({ code: 0 });
  const { code, stdout } = await callHere(here, "memory.open_nodes", "names=Ada", "names=Grace", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout).structuredContent.entities).toEqual([{ ...entity, observations: ["counts", "sails"] }]);
});
