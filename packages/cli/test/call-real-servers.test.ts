import { join } from "node:path";
import { everythingServer, realServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { processesOf } from "./left-over.ts";
import { type Machine, machine, userFile } from "./machine.ts";
import { runProcess } from "./process.ts";

/** `fairlead call …`, and nothing is left of it. */
async function call(here: Machine, ...argv: readonly string[]) {
  const { code, stdout, stderr } = await runProcess(here, "call", ...argv);
  expect(processesOf(here)).toEqual([]);
  return { code, stdout, stderr };
}

describe("the reference server", () => {
  const { command, args } = realServer("everything", "stdio");
  const line = [command, ...args].join(" ");

  test.each(["stdio", "streamableHttp", "sse"] as const)(
    "is called over %s, from the settings and as it is typed",
    async (transport) => {
      await using web = transport === "stdio" ? undefined : await everythingServer(transport);
      await using here = await machine({
        [userFile]: { mcpServers: { it: web === undefined ? { command, args } : { url: web.url } } },
      });
      const typed = web === undefined ? ["--stdio", line] : [web.url];
      const ahoy = { code: 0, stdout: "Echo: ahoy\n", stderr: "" };
      expect(await call(here, "it.echo", "message=ahoy")).toEqual(ahoy);
      // How it is written makes no difference to the process.
      expect(await here.run("call", "it.echo(message: 'ahoy')")).toEqual(ahoy);
      expect(await here.run("call", ...typed, "echo", "message=ahoy")).toEqual(ahoy);
      expect(await here.run("call", "it.get-sum", "a=2", "b=40")).toEqual({
        code: 0,
        stdout: "The sum of 2 and 40 is 42.\n",
        stderr: "",
      });
      const run = web === undefined ? call : (_: Machine, ...argv: readonly string[]) => here.run("call", ...argv);
      const steps = await run(here, "it.trigger-long-running-operation", "duration=0.2", "steps=2");
      expect(steps).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/^it\.trigger-long-running-operation 1\/2\n/),
      });
      const { stdout } = await run(here, "it.get-tiny-image", "--save", "pictures", "--json");
      expect(JSON.parse(stdout)).toMatchObject({
        ok: true,
        saved: [join(here.project, "pictures/it-get-tiny-image-1.png")],
      });
    },
  );
});

test("the file server's own words about a file that is not there, and exit code 7", async () => {
  await using here = await machine();
  await here.write(userFile, { mcpServers: { filesystem: realServer("filesystem", here.project) } });
  const path = join(here.project, "nonexistent");
  const inside = await call(here, "filesystem.read_text_file", `path=${path}`);
  expect(inside).toEqual({
    code: 7,
    stdout: expect.stringContaining(`ENOENT: no such file or directory, open '${path}'`),
    stderr: "fairlead: filesystem.read_text_file reported an error\n",
  });
  const outside = await here.run("call", "filesystem.read_text_file", "path=/nonexistent");
  expect(outside).toEqual({
    code: 7,
    stdout: `Access denied - path outside allowed directories: /nonexistent not in ${here.project}\n`,
    stderr: "fairlead: filesystem.read_text_file reported an error\n",
  });
});

test("the memory server keeps what it is told, from one call to the next", async () => {
  await using here = await machine();
  const env = { MEMORY_FILE_PATH: join(here.path, "memory.jsonl") };
  await here.write(userFile, { mcpServers: { memory: { ...realServer("memory"), env } } });
  const entity = { name: "Ada", entityType: "person", observations: ["counts"] };
  expect(await call(here, "memory.create_entities", `entities=${JSON.stringify([entity])}`)).toMatchObject({ code: 0 });
  const told = await here.run(
    "call",
    `memory.add_observations(observations: [{entityName: 'Ada', contents: ['sails']}])`,
  );
  expect(told).toMatchObject({ code: 0 });
  // A list of one, and of two.
  expect(await here.run("call", "memory.open_nodes", "names=Ada")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("sails"),
  });
  const { code, stdout } = await call(here, "memory.open_nodes", "names=Ada", "names=Grace", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout).structuredContent.entities).toEqual([{ ...entity, observations: ["counts", "sails"] }]);
});
