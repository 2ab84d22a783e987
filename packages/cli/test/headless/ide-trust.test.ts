import { rm } from "node:fs/promises";
import { join } from "node:path";
import { behaves, ideCompanion, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../support/machine.ts";
import { stillClock } from "../support/still-clock.ts";

test("a run without the app names the settings file that cannot be read when the IDE reports", async () => {
  await using companion = await ideCompanion();
  await using here = await machine({ [projectFile]: { mcpServers: {} } });
  await using server = await webServer((request, response) => {
    if (!request.body.includes('"tools/call"')) return behaves(request, response);
    // The call never gets an answer: it ends with the folder's trust.
    void here.write(userFile, "{ broken").then(() => companion.say(false));
  });
  await here.write(projectFile, { mcpServers: { theirs: { httpUrl: server.origin } } });
  expect(await here.run("trust", "add", "--yes")).toMatchObject({ code: 0 });
  await rm(join(here.home, ".gemini/trustedFolders.json"));
  const env = companion.variables(here.project);
  const words = ["-p", "theirs.echo text=1", "--model", "manual", "--allow", "theirs"];
  const { stderr } = await here.runWith({ env, clock: stillClock }, ...words);
  expect(stderr).toMatch(
    /note: \S+settings\.json is not valid JSON: .*; the host keeps its earlier settings\n {2}next: Correct \S+settings\.json at line 1, column 3\./,
  );
});

test("a run without the app follows the IDE: the call of a folder that loses its trust ends, and later calls are refused", async () => {
  await using companion = await ideCompanion();
  let calls = 0;
  await using server = await webServer((request, response) => {
    if (!request.body.includes('"tools/call"')) return behaves(request, response);
    calls += 1;
    // The call never gets an answer.
    companion.say(false);
  });
  await using here = await machine({ [projectFile]: { mcpServers: { theirs: { httpUrl: server.origin } } } });
  expect(await here.run("trust", "add", "--yes")).toMatchObject({ code: 0 });
  await rm(join(here.home, ".gemini/trustedFolders.json"));
  const env = companion.variables(here.project);
  const words = ["-p", "theirs.echo text=1\ntheirs.echo text=2", "--model", "manual", "--allow", "theirs"];
  const { code, stderr } = await here.runWith({ env, clock: stillClock }, ...words);
  expect([code, calls]).toEqual([expect.any(Number), 1]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(
    `note: the folder is not trusted now: reported by the IDE, companion on port ${companion.port}\n`,
  );
});
