import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost, type Host, type ServerState } from "../../src/index.ts";
import { answers, beside, processesOf, stateOf } from "./beside.ts";

/** Resolves with the state in which a server is disconnected. */
function disconnected(host: Host, wanted: string): Promise<ServerState> {
  return new Promise((resolve) => {
    const stop = host.on("state", ({ state }) => {
      if (state.name !== wanted || state.status !== "disconnected") return;
      stop();
      resolve(state);
    });
  });
}

test("a server that floods its stderr is disconnected with that reason, and stays so until the user restarts it", () =>
  beside(stdioServer("flood"), async ({ host, state, folder }) => {
    const end = disconnected(host, "odd");
    const lines: string[] = [];
    host.on("stderr", ({ line }) => lines.push(line));
    await answers(host, "odd");
    await answers(host, "good");
    await end;
    expect(state()).toMatchObject({
      status: "disconnected",
      reason: "flooding",
      message: '"odd" was disconnected: it wrote too much to stderr: more than 2048 kB per second for 5 s',
      next: "fairlead mcp logs odd",
    });
    await expect(host.call("odd", "echo", { text: "?" })).rejects.toMatchObject({ code: "flooding" });
    const dropped = lines.filter((line) => /^\([\d,]+ lines dropped: the server wrote too fast\)$/.test(line));
    expect(dropped.length).toBeGreaterThan(0);
    // 32 MB are about 1.6 million lines; 2,000 at once and 1,000 per second are reported.
    expect(lines.length).toBeLessThan(100_000);
    expect(processesOf(folder).filter((line) => line.includes("flood.mjs"))).toEqual([]);
    await host.restart(["odd"]);
    await answers(host, "odd");
  }));

test("the limit of a catalog counts bytes, whatever the characters are", async () => {
  await using folder = await temporaryFolder();
  await folder.write("home/.keep", "");
  const home = `${folder.path}/home`;
  // Ten pages of 60 kB in bytes, but of 20 000 characters.
  await using host = await createHost({
    settings: {
      mcpServers: { paged: stdioServer("paged-catalog", "10", "20000", "あ") },
      fairlead: { limits: { catalogBytes: 420_000 } },
    },
    workspace: false,
    environment: { env: { PATH: process.env["PATH"], HOME: home }, home, cwd: home, platform: process.platform },
  });
  await host.start();
  expect(stateOf(host, "paged")).toMatchObject({ status: "connected", offer: { tools: 6 } });
});

test("a catalog over its limit is cut, and the server's note names the limit and the setting", async () => {
  await using folder = await temporaryFolder();
  await folder.write("home/.keep", "");
  const home = `${folder.path}/home`;
  const environment = { env: { PATH: process.env["PATH"], HOME: home }, home, cwd: home, platform: process.platform };
  const server = stdioServer("paged-catalog", "20", "50000");
  const open = (catalogBytes: number): Promise<Host> =>
    createHost({
      settings: { mcpServers: { paged: server }, fairlead: { limits: { catalogBytes } } },
      workspace: false,
      environment,
    });
  {
    await using host = await open(420_000);
    await host.start();
    expect(stateOf(host, "paged")).toMatchObject({
      status: "connected",
      offer: {
        tools: 8,
        note: "the list of tools is cut: the lists of the server are larger than 420.0 kB (fairlead.limits.catalogBytes)",
      },
    });
  }
  {
    await using host = await open(160_000);
    await host.start();
    expect(stateOf(host, "paged")).toMatchObject({
      status: "disconnected",
      reason: "too_large",
      message:
        '"paged" offers nothing that can be used: a page is larger than 40.0 kB (a quarter of fairlead.limits.catalogBytes)',
      next: 'raise "fairlead.limits.catalogBytes" in settings.json',
    });
  }
  await using host = await open(2_000_000);
  await host.start();
  expect(stateOf(host, "paged")).toMatchObject({ offer: { tools: 20 } });
});
