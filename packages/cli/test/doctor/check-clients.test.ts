import { join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type Receipt, ReceiptStore } from "../../src/clients/receipts.ts";
import { checkClients, readClientFacts } from "../../src/doctor/check-clients.ts";

const receipt: Receipt = {
  client: "claude-code",
  file: "/c.json",
  before: null,
  after: "d",
  entry: {},
  moved: [],
  folders: [],
  written: "2026-01-31T08:30:05.123Z",
};

test("doctor says of each connected client whether it can start Fairlead", () => {
  const failure = new HostError("settings_invalid", "cannot be read", { next: "repair it" });
  const next = "fairlead connect claude-code";
  expect(
    checkClients([
      { receipt, hasEntry: true },
      { receipt, hasEntry: false },
      { receipt, hasEntry: true, missing: "/gone" },
      { receipt, hasEntry: false, failure },
    ]),
  ).toEqual([
    { severity: "ok", message: "Claude Code uses Fairlead (/c.json)" },
    {
      severity: "warning",
      message: "Claude Code is no longer connected: /c.json has no entry for Fairlead",
      next,
    },
    {
      severity: "problem",
      code: "command_not_found",
      message: "Claude Code cannot start Fairlead: /gone does not exist (/c.json)",
      next,
    },
    { severity: "problem", code: "settings_invalid", message: "cannot be read", next: "repair it" },
  ]);
  expect(checkClients([])).toEqual([]);
});

test("doctor reads the entry in each client's file, and looks for the program and the file that it names", async () => {
  await using folder = await temporaryFolder();
  const [there, gone] = [await folder.write("there", ""), join(folder.path, "gone")];
  const state = join(folder.path, "state");
  const facts = async (entry: object | string | undefined) => {
    const text = typeof entry === "string" ? entry : { mcpServers: { ...(entry && { fairlead: entry }) } };
    const file = await folder.write("client.json", text);
    await new ReceiptStore(state).save({ ...receipt, file }, undefined);
    const [found, ...others] = await readClientFacts(state);
    expect(others).toEqual([]);
    return { hasEntry: found?.hasEntry, missing: found?.missing, failure: found?.failure?.code };
  };
  const fine = { hasEntry: true, missing: undefined, failure: undefined };
  expect(await facts({ command: there, args: [there, gone] })).toEqual(fine);
  expect(await facts({ command: "node", args: ["serve"] })).toEqual(fine);
  expect(await facts({ command: gone, args: [there] })).toEqual({ ...fine, missing: gone });
  expect(await facts({ command: there, args: [gone] })).toEqual({ ...fine, missing: gone });
  expect(await facts({ type: "http", url: "http://127.0.0.1:4100/mcp" })).toEqual(fine);
  expect(await facts(undefined)).toEqual({ ...fine, hasEntry: false });
  expect(await facts("{")).toEqual({ hasEntry: false, missing: undefined, failure: expect.stringMatching(/./) });
});
