import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createSignInLock, evenIfBusy } from "../../../src/auth/store/sign-in-lock.ts";
import { signInFolder } from "../../../src/auth/store/token-storage.ts";
import { HostError } from "../../../src/errors.ts";
import { both } from "../both-servers.ts";
import { person } from "../person.ts";
import { signingIn, storageIn } from "../signing-in.ts";

test("a sign-in that fails does not bring back a token that was renewed meanwhile", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const { url } = servers.guarded;
  const first = await signingIn(url, person(), folder);
  const storage = storageIn(folder);
  const lock = createSignInLock(signInFolder(folder.path));
  let failed: Promise<unknown> = Promise.resolve();
  // Another process renews it, and is not done when the sign-in fails.
  await lock(await storage.nameOf(url), async () => {
    const { promise, saidNo } = refusing();
    failed = signingIn(url, person({ ui: { consent: saidNo } }), folder).catch((error: unknown) => error);
    await promise;
    await new Promise(setImmediate);
    const tokens = { accessToken: "new", tokenType: "Bearer", refreshToken: "rotated", obtainedAt: 1 };
    await storage.saveCredentials({ ...first, tokens });
  });
  expect(await failed).toMatchObject({ code: "auth_required" });
  const stored = await storageIn(folder).getCredentials(url);
  expect([stored?.tokens?.refreshToken, stored?.client.redirectUri]).toEqual(["rotated", undefined]);
});

function refusing() {
  let tell = (): void => {};
  const promise = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const saidNo = async (): Promise<boolean> => {
    tell();
    return false;
  };
  return { promise, saidNo };
}

test("what a person has decided is done also where others do not finish, and never twice", async () => {
  const busy = async (): Promise<never> => {
    throw new HostError("busy", "busy");
  };
  let done = 0;
  const work = async (): Promise<number> => {
    done += 1;
    return done;
  };
  expect(await evenIfBusy(busy, "name", work)).toBe(1);
  const lock = <T>(_name: string, locked: () => Promise<T>): Promise<T> => locked();
  await expect(evenIfBusy(lock, "name", busy)).rejects.toThrow("busy");
  const broken = async (): Promise<never> => {
    throw new Error("no permission");
  };
  await expect(evenIfBusy(broken, "name", work)).rejects.toThrow("no permission");
  expect(done).toBe(1);
});
