import { join } from "node:path";
import { everythingServer, realServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { processesOf } from "./left-over.ts";
import { type Machine, machine, userFile } from "./machine.ts";
import { runProcess } from "./process.ts";

interface Village extends AsyncDisposable {
  readonly here: Machine;
}

/** A machine with servers that people use in its settings, the reference server over each of its transports. */
async function village(): Promise<Village> {
  const [http, sse, here] = await Promise.all([
    everythingServer("streamableHttp"),
    everythingServer("sse"),
    machine({ "project/ahoy.txt": "Ahoy from a file." }),
  ]);
  await here.write(userFile, {
    mcpServers: {
      pipe: realServer("everything", "stdio"),
      http: { httpUrl: http.url },
      // What it speaks is found out: there is no streamable HTTP at this address.
      sse: { url: sse.url },
      filesystem: realServer("filesystem", here.project),
      memory: { ...realServer("memory"), env: { MEMORY_FILE_PATH: join(here.path, "memory.json") } },
      gitlab: { ...realServer("gitlab"), env: { GITLAB_PERSONAL_ACCESS_TOKEN: "none" } },
    },
  });
  return {
    here,
    async [Symbol.asyncDispose]() {
      await Promise.all([http, sse, here].map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

const everything = { tools: 13, prompts: 4, resources: 7, protocolVersion: "2025-11-25" };
const toolsOnly = { prompts: 0, resources: 0, protocolVersion: "2025-11-25" };

test("servers that people use are listed with what they offer, and nothing is left of them", async () => {
  await using place = await village();
  const { here } = place;
  const { code, stdout, stderr } = await runProcess(here, "mcp", "list", "--json");
  expect(processesOf(here)).toEqual([]);
  expect({ code, stderr, ...JSON.parse(stdout) }).toEqual({
    code: 0,
    stderr: "",
    schemaVersion: 1,
    discoveryState: "completed",
    servers: [
      { name: "pipe", transport: "stdio", ...everything },
      { name: "http", transport: "http", ...everything },
      { name: "sse", transport: "sse", ...everything },
      { name: "filesystem", transport: "stdio", ...toolsOnly, tools: 14 },
      { name: "memory", transport: "stdio", ...toolsOnly, tools: 9, resources: 1 },
      { name: "gitlab", transport: "stdio", ...toolsOnly, tools: 9, protocolVersion: "2024-11-05" },
    ].map((server) => ({ scope: "user", status: "connected", ...server })),
    problems: [],
  });
});

describe("servers that people use are tested step by step", () => {
  const steps = ["definition", "program", "environment", "start", "handshake", "list"];
  const onTheWeb = ["definition", "handshake", "list"];
  const all = "connected: 13 tools, 4 prompts, 7 resources, 2 resource templates";

  test("each over its transport", async () => {
    await using place = await village();
    const { here } = place;
    const names = ["pipe", "http", "sse", "filesystem", "memory", "gitlab"];
    const endings = await Promise.all(names.map((name) => runProcess(here, "mcp", "test", name)));
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
    expect(processesOf(here)).toEqual([]);
  });

  test("and one that lacks its token says which", async () => {
    await using here = await machine({ [userFile]: { mcpServers: { gitlab: realServer("gitlab") } } });
    const { code, stdout, stderr } = await runProcess(here, "mcp", "test", "gitlab");
    expect(code).toBe(4);
    expect(stdout).toContain("\n  stderr       GITLAB_PERSONAL_ACCESS_TOKEN environment variable is not set\n");
    expect(stderr).toBe(
      'fairlead: "gitlab" exited with code 1 before it answered initialize; its last words: GITLAB_PERSONAL_ACCESS_TOKEN environment variable is not set\n' +
        `  next: If it needs credentials, name them in "env" of its entry (${join(here.path, userFile)}:3): it sees nothing else of your environment.\n`,
    );
  });
});

test("a tool of theirs is called", async () => {
  await using place = await village();
  const { here } = place;
  const path = join(here.project, "ahoy.txt");
  const endings = await Promise.all([
    runProcess(here, "call", "filesystem.read_text_file", `path=${path}`),
    runProcess(here, "call", "http.echo", "message=hello"),
    runProcess(here, "call", "sse.echo", "message=hello"),
  ]);
  expect(endings.map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, "Ahoy from a file.\n"],
    [0, "Echo: hello\n"],
    [0, "Echo: hello\n"],
  ]);
  expect(processesOf(here)).toEqual([]);
});
