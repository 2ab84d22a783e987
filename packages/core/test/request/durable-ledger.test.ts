/** A ledger that requests wait for: before they are sent, and before they end. */

import { join } from "node:path";
import { deferred, temporaryFolder, workshop } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { OpenedHost } from "../../src/host/types.ts";
import { openHost } from "../../src/host.ts";
import type { RequestLedger } from "../../src/request/ledger.ts";
import { loadConfiguration } from "../../src/trust/configuration.ts";

async function hostOf(url: string | undefined, path: string, ledger: Partial<RequestLedger>): Promise<OpenedHost> {
  const env = { PATH: process.env["PATH"], HOME: path, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(path, "none") };
  const configuration = await loadConfiguration({
    environment: { env, home: path, cwd: path, platform: process.platform },
    trustWorkspace: true,
    userSettings: JSON.stringify({ mcpServers: { shop: { httpUrl: url } } }),
  });
  const rest = { record: () => undefined, usedTools: async () => [], flush: async () => {} };
  return openHost(configuration, { lazy: true, ledger: { ...rest, ...ledger } });
}

test("a call is sent after its intent is noted, and ends after its row is stored, with the same id", async () => {
  await using folder = await temporaryFolder();
  await using shop = await workshop("modern", "http");
  const [begun, recorded] = [deferred<string>(), deferred<void>()];
  const [began, came] = [deferred<string>(), deferred<unknown>()];
  await using host = await hostOf(shop.url, folder.path, {
    begin(request) {
      began.resolve(`${request.serverName}.${request.serverToolName}`);
      return begun.promise;
    },
    record({ outcome }, id) {
      came.resolve([outcome, id, shop.notes()]);
      return recorded.promise;
    },
  });
  let isOver = false;
  const call = host.call("shop", "echo", { text: "hi" }).finally(() => {
    isOver = true;
  });
  expect(await began.promise).toBe("shop.echo");
  expect(shop.notes()).toEqual([]);
  begun.resolve("id-1");
  const [outcome, id] = (await came.promise) as unknown[];
  expect([outcome, id, isOver]).toEqual(["ok", "id-1", false]);
  recorded.resolve();
  expect(await call).toMatchObject({ isError: false });
});

test("without an intent nothing is sent, and the row of the refused call has no id", async () => {
  await using folder = await temporaryFolder();
  await using shop = await workshop("modern", "http");
  const rows: unknown[] = [];
  await using host = await hostOf(shop.url, folder.path, {
    begin: () => Promise.reject(new Error("the store is away")),
    record({ outcome }, id) {
      rows.push([outcome, id]);
      return undefined;
    },
  });
  await expect(host.call("shop", "echo", { text: "hi" })).rejects.toThrow("the store is away");
  expect([rows, shop.notes()]).toEqual([[["internal", undefined]], []]);
});

test("a call whose row cannot be stored fails", async () => {
  await using folder = await temporaryFolder();
  await using shop = await workshop("modern", "http");
  await using host = await hostOf(shop.url, folder.path, {
    record: () => Promise.reject(new Error("the row is lost")),
  });
  await expect(host.call("shop", "echo", { text: "hi" })).rejects.toThrow("the row is lost");
});
