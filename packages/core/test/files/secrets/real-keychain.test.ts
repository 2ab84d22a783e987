import { readdir } from "node:fs/promises";
import { temporaryFolder } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openKeychain } from "../../../src/files/secrets/keychain.ts";
import { openSecretStore } from "../../../src/files/secrets/secret-store.ts";
import { describeSecretStore } from "../../support/describe-secret-store.ts";
import { testKilledInKeychain } from "../../support/killed-in-keychain.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { missing, type RealSecretService, realSecretService } from "../../support/real-secret-service.ts";

describe("in a real keychain", () => {
  if (missing.length > 0) {
    test.skip(`${missing.join(" AND ")} NOT INSTALLED HERE: the system's keychain was not tested`);
    return;
  }

  let service: RealSecretService;
  beforeAll(async () => {
    service = await realSecretService("unlocked");
    // That is where the keyring library looks for the bus. No other test file runs in this process: see vitest.config.ts.
    process.env["DBUS_SESSION_BUS_ADDRESS"] = service.address;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  // However long the service takes on a busy machine, it is waited for.
  const clock = manualClock();
  const open = (directory: string) => openSecretStore({ directory, env: process.env, platform: "linux", clock });
  describeSecretStore("keychain", () => open);

  testKilledInKeychain(async (directory) => {
    const keychain = await openKeychain({ directory, env: process.env, platform: "linux", clock });
    if (keychain === undefined) throw new Error("there is no keychain");
    return { bus: service.address, keychain };
  });

  test("asked a hundred times, it is connected to once", async () => {
    await using folder = await temporaryFolder();
    const store = await open(folder.path);
    await store.set("TOKEN", "value");
    const before = (await readdir("/proc/self/fd")).length;
    for (let time = 0; time < 100; time += 1) expect(await store.get("TOKEN")).toBe("value");
    expect((await readdir("/proc/self/fd")).length).toBeLessThanOrEqual(before + 5);
  });

  test("two folders have nothing in common", async () => {
    await using one = await temporaryFolder();
    await using other = await temporaryFolder();
    await (await open(one.path)).set("TOKEN", "value");
    expect(await (await open(other.path)).get("TOKEN")).toBeUndefined();
  });
});
