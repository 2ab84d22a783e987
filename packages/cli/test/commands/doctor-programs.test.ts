import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { complaints, findingsOf } from "../support/findings.ts";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { pathOf, shellProgram } from "../support/path-program.ts";
import { program } from "../support/process.ts";

const env = { FAIRLEAD_SECRET_STORE: "file" };

async function withNvm(here: Machine): Promise<string> {
  for (const version of ["v9.1.0", "v22.3.0", "v20.1.0"])
    await shellProgram(here, `home/.nvm/versions/node/${version}/bin/npx`, "exit 1");
  return join(here.home, ".nvm/versions/node/v22.3.0/bin");
}

test("a program that is only on the PATH of shells with nvm: where it is, and what makes it found", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { a: { command: "npx", args: ["-y", "x@1.2.3"] } } } });
  const folder = await withNvm(here);
  const ending = await here.runWith({ env: { ...env, PATH: pathOf(here) } }, "doctor", "--json");
  const file = join(here.path, userFile);
  expect(complaints(ending).filter(({ severity }) => severity === "problem")).toEqual([
    {
      group: "programs",
      severity: "problem",
      server: "a",
      code: "command_not_found",
      message: `"a" runs npx, which is not on the server's PATH: it is in ${folder} (nvm), which only your own shell has on its PATH`,
      next: `add "env": { "PATH": "${folder}:$PATH" } to its entry (${file}:3)`,
    },
  ]);
  // What it says to do does it.
  await here.write(userFile, {
    mcpServers: { a: { command: "npx", args: ["-y", "x@1.2.3"], env: { PATH: `${folder}:$PATH` } } },
  });
  const after = await here.runWith({ env: { ...env, PATH: pathOf(here) } }, "doctor", "--json");
  expect(complaints(after)).toMatchObject([
    {
      group: "programs",
      severity: "note",
      message: "npx is not on PATH: servers from npm packages need it",
    },
    {
      group: "programs",
      severity: "note",
      message: `a: program found in a folder of nvm (${folder}), which editors and services do not have on their PATH`,
    },
    { group: "servers", code: "server_exited" },
  ]);
});

test("a script whose interpreter is not on the PATH that it gets", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { a: { command: "${HERE}/tool" } } } });
  const tool = await shellProgram(here, "tool", "");
  await writeFile(tool, "#!/usr/bin/env node\n");
  const ending = await here.runWith({ env: { ...env, PATH: pathOf(here), HERE: here.path } }, "doctor", "--json");
  expect(complaints(ending).filter(({ severity }) => severity === "problem")).toMatchObject([
    {
      group: "programs",
      message: `"a" runs ${tool}, which needs node, and that is not on the server's PATH`,
      next: expect.stringMatching(/^install Node\.js/),
    },
  ]);
});

test("without a PATH, programs are where the system looks then", async () => {
  const { command, args } = stdioServer("well-behaved");
  await using here = await machine({
    [userFile]: { mcpServers: { a: { command: "sh", args: ["-c", `exec '${command}' '${args.join("' '")}'`] } } },
  });
  const { PATH: _none, ...without } = here.env;
  const { stdout } = spawnSync(process.execPath, [program, "doctor", "--json"], {
    cwd: here.project,
    env: { ...without, ...env },
    encoding: "utf8",
  });
  const found = findingsOf({ stdout }).filter(({ server, message }) => server === "a" || message.endsWith(" (a)"));
  expect(found).toMatchObject([
    { group: "programs", severity: "ok", message: expect.stringMatching(/^\/(?:usr\/)?bin\/sh \(a\)$/) },
    { group: "servers", severity: "ok" },
  ]);
  expect(stdout).not.toContain("left out of the PATH");
});

test("in a folder that is not trusted, what is dropped from PATH is named", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { a: { command: "tool" } } } });
  await shellProgram(here, "project/bin/tool", "");
  const path = `${pathOf(here, "project/bin")}:.`;
  const ending = await here.runWith({ env: { ...env, PATH: path } }, "doctor", "--json");
  expect(complaints(ending).filter(({ group }) => group === "programs")).toContainEqual({
    group: "programs",
    severity: "note",
    message: `the workspace is not trusted, so these folders were removed from the servers' PATH: "${join(here.project, "bin")}", "."`,
    next: "fairlead trust add",
  });
});
