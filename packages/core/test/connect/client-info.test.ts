import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { clientInfo } from "../../src/connect/client-info.ts";

test("servers are told the version of this package", async () => {
  const file = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  expect(clientInfo.version).toBe((JSON.parse(file) as { version: string }).version);
});
