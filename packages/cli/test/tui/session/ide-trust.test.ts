import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ideCompanion, stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { processesOf } from "../../support/left-over.ts";
import { type Machine, machine, projectFile, userFile } from "../../support/machine.ts";
import { openScene, type Scene } from "../../support/tui/session-scene.ts";

const own = ({ path }: Machine): object => ({ mcpServers: { mine: stdioServer("well-behaved", path, "--mine") } });

/** A user's own server, and a workspace that brings one. The user has approved it, and no rule trusts the folder. */
async function approvedServer(): Promise<Machine> {
  const here = await machine();
  await here.write(userFile, own(here));
  await here.write(projectFile, { mcpServers: { db: stdioServer("well-behaved", here.path, "--db") } });
  expect(await here.run("trust", "add", "--yes")).toMatchObject({ code: 0 });
  await rm(join(here.home, ".gemini/trustedFolders.json"));
  return here;
}

async function untilStatuses({ until }: Scene, mine: string, db: string): Promise<void> {
  await until(({ servers }) => {
    const statusOf = (server: string): unknown => servers.find(({ name }) => name === server)?.status;
    return statusOf("mine") === mine && statusOf("db") === db;
  });
}

test("a running app follows the IDE: the folder's server ends and starts, and a note says why", async () => {
  await using here = await approvedServer();
  await using companion = await ideCompanion();
  await using scene = await openScene(here, companion.variables(here.project));
  await untilStatuses(scene, "connected", "connected");
  const reported = `reported by the IDE, companion on port ${companion.port}`;
  await scene.shown(new RegExp(`^Fairlead\nworkspace {2}${here.project} \\(trusted: ${reported}\\)`));

  await here.write(userFile, "{ broken");
  companion.say(false);
  await scene.shown(new RegExp(`^The folder is not trusted now: ${reported}`));
  await scene.shown(/is not valid JSON: .*; the host keeps its earlier settings\nCorrect \S+ at line 1, column 3\./);
  await untilStatuses(scene, "connected", "blocked");
  await here.write(userFile, own(here));
  expect(processesOf(here).filter((line) => line.includes("--db"))).toEqual([]);

  companion.say(true);
  await scene.shown(new RegExp(`^The folder is trusted now: ${reported}`));
  await untilStatuses(scene, "connected", "connected");

  companion.endStreams();
  await scene.shown(/^The folder is not trusted now: no rule covers it/);
  await untilStatuses(scene, "connected", "blocked");
});

test("an app does not ask about a folder that the IDE distrusts; if the user trusts it anyway, the app says what decides", async () => {
  await using here = await approvedServer();
  await using companion = await ideCompanion({ isTrusted: false });
  await using scene = await openScene(here, companion.variables(here.project));
  await untilStatuses(scene, "connected", "blocked");
  // The app asks about the folder before it answers a command.
  scene.enter("/mcp list");
  await scene.shown(/^\/mcp list/);
  expect(scene.state().questions).toEqual([]);
  scene.enter("/trust add");
  const { key } = await scene.asked("trust");
  scene.session.answer(key, { kind: "trust", value: true });
  await scene.shown(/^The folder is still not trusted: reported by the IDE, .*\nTrust the folder in the IDE/);
});
