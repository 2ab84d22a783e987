import { temporaryFolder, until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { openSecretStore } from "../../../src/files/secrets/secret-store.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { missing, realSecretService } from "../../support/real-secret-service.ts";

// In a file, and so in a process, of its own: the keyring library stays with the first bus that it finds.
if (missing.length > 0) {
  test.skip(`${missing.join(" AND ")} NOT INSTALLED HERE: a locked keychain was not tested`);
} else {
  test("a real keychain that is locked, without a user to unlock it: a secret is stored all the same, in the file", async () => {
    await using folder = await temporaryFolder();
    await using service = await realSecretService("locked");
    process.env["DBUS_SESSION_BUS_ADDRESS"] = service.address;
    const clock = manualClock();
    const open = () => openSecretStore({ directory: folder.path, env: process.env, platform: "linux", clock });
    const store = await open();
    expect([store.backend, await store.get("TOKEN"), await store.list()]).toEqual(["keychain", undefined, []]);
    let isStored = false;
    const stored = store.set("TOKEN", "kept").finally(() => {
      isStored = true;
    });
    // It refuses, or it never answers.
    await until(() => isStored || clock.pending() === 1);
    await clock.pass(2000);
    await stored;
    const next = await open();
    expect([store.backend, next.backend, await next.get("TOKEN")]).toEqual(["file", "file", "kept"]);
  });
}
