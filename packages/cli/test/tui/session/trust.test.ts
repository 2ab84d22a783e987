import { rm } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { processesOf } from "../../support/left-over.ts";
import { type Machine, machine, projectFile, userFile } from "../../support/machine.ts";
import { openScene, type Scene } from "../../support/tui/session-scene.ts";

/** A user's own server, and a workspace that brings one. */
async function twoServers(): Promise<Machine> {
  const here = await machine();
  await here.write(userFile, { mcpServers: { mine: stdioServer("well-behaved", here.path, "--mine") } });
  await here.write(projectFile, { mcpServers: { db: stdioServer("well-behaved", here.path, "--db") } });
  return here;
}

async function untilStatuses({ until }: Scene, mine: string, db: string): Promise<void> {
  await until(({ servers }) => {
    const statusOf = (server: string): unknown => servers.find(({ name }) => name === server)?.status;
    return statusOf("mine") === mine && statusOf("db") === db;
  });
}

async function refuseTrust({ asked, session, shown, state }: Scene): Promise<void> {
  const { key } = await asked("trust");
  session.answer(key, { kind: "trust", value: false });
  await shown(/None of its servers was started/);
  // To refuse trust is no mistake.
  expect(state().items.find((item) => item.kind === "note" && item.text.includes("None of its servers"))).toMatchObject(
    { tone: "info" },
  );
}

function runningOf(here: Machine, option: string): number {
  return processesOf(here).filter((line) => line.includes(option)).length;
}

const trustNotes = ({ state }: Scene): readonly string[] =>
  state().items.flatMap((item) =>
    item.kind === "note" && /trusted\. Settings reloaded/.test(item.text) ? [item.text] : [],
  );

test("`fairlead trust add` beside a running app starts the workspace's server there", async () => {
  await using here = await twoServers();
  await using scene = await openScene(here);
  await refuseTrust(scene);
  await untilStatuses(scene, "connected", "blocked");
  expect(await here.run("trust", "add", "--yes")).toMatchObject({ code: 0 });
  await scene.shown(new RegExp(`^${here.project} is now trusted\\. Settings reloaded\\.`));
  // The command writes the approvals after the folder; a slow one is picked up by a reload.
  scene.enter("/mcp reload");
  await untilStatuses(scene, "connected", "connected");
  expect(runningOf(here, "--db")).toBe(1);
});

test("`fairlead trust remove` beside a running app ends the workspace's server without a command", async () => {
  await using here = await twoServers();
  expect(await here.run("trust", "add", "--yes")).toMatchObject({ code: 0 });
  await using scene = await openScene(here);
  await untilStatuses(scene, "connected", "connected");
  expect(await here.run("trust", "remove")).toMatchObject({ code: 0 });
  await scene.shown(new RegExp(`^${here.project} is no longer trusted\\. Settings reloaded\\.`));
  await untilStatuses(scene, "connected", "blocked");
  expect([runningOf(here, "--mine"), runningOf(here, "--db")]).toEqual([1, 0]);
  await expect(scene.session.host.call("db", "echo", { text: "x" })).rejects.toMatchObject({
    code: "untrusted_folder",
  });
});

/** The workspace's server is approved, and the rule of the parent folder trusts the workspace. */
async function trustedByParent(): Promise<Machine> {
  const here = await twoServers();
  expect(await here.run("trust", "add", "--yes")).toMatchObject({ code: 0 });
  await rm(join(here.home, ".gemini/trustedFolders.json"));
  expect(await here.run("trust", "add", "--yes", here.path)).toMatchObject({ code: 0 });
  return here;
}

test("`fairlead trust remove` of a parent folder ends the workspace's server", async () => {
  await using here = await trustedByParent();
  await using scene = await openScene(here);
  await untilStatuses(scene, "connected", "connected");
  expect(await here.run("trust", "remove", here.path)).toMatchObject({ code: 0 });
  await scene.shown(new RegExp(`^${here.project} is no longer trusted\\. Settings reloaded\\.`));
  await untilStatuses(scene, "connected", "blocked");
  expect(runningOf(here, "--db")).toBe(0);
});

test("`fairlead trust remove` of the approvals alone ends the workspace's server", async () => {
  await using here = await trustedByParent();
  await using scene = await openScene(here);
  await untilStatuses(scene, "connected", "connected");
  expect((await here.run("trust", "remove")).stderr).toContain("the folder is still trusted");
  await scene.shown(new RegExp(`^The approvals for the servers of ${here.project} changed\\. Settings reloaded\\.`));
  await untilStatuses(scene, "connected", "blocked");
  expect(runningOf(here, "--db")).toBe(0);
});

test("`/mcp add` asks to trust the folder; the server that was typed needs no other approval", async () => {
  await using here = await machine();
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  const { command, args } = stdioServer("well-behaved", here.path, "--db");
  scene.enter(`/mcp add db ${[command, ...args].map((word) => `'${word}'`).join(" ")}`);
  const { key, servers, approved } = await scene.asked("trust");
  expect({ servers, approved }).toEqual({ servers: [], approved: ["db"] });
  scene.session.answer(key, { kind: "trust", value: true });
  await scene.until((state) => state.servers.find(({ name }) => name === "db")?.status === "connected");
});

test("`/trust` and `/trust remove` take effect at once, and the app does not report its own change as a change", async () => {
  await using here = await twoServers();
  await using scene = await openScene(here);
  await refuseTrust(scene);
  scene.enter("/trust");
  const { key } = await scene.asked("trust");
  scene.session.answer(key, { kind: "trust", value: true });
  await untilStatuses(scene, "connected", "connected");
  scene.enter("/trust remove");
  await scene.shown(/removed the trust rule of/);
  expect(scene.state().servers.find(({ name }) => name === "db")?.status).toBe("blocked");
  expect(runningOf(here, "--db")).toBe(0);
  // The watch reports changes in order: after one by another program, it has reported those of the app.
  await here.write("other/file", "");
  expect(await here.run("trust", "add", "--yes", join(here.path, "other"))).toMatchObject({ code: 0 });
  await scene.shown(new RegExp(`^Trusted folders changed; ${here.project} is still not trusted\\.`));
  expect(trustNotes(scene)).toHaveLength(1);
});
