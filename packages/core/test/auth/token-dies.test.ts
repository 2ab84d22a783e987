/** A token that the server refuses while the server is connected, and the user cannot be asked to sign in. */

import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { both } from "./both-servers.ts";
import { person } from "./person.ts";
import { hostFor, stateOf } from "./signed-in-host.ts";

test.each([false, true])("the server needs a sign-in, and says so (reconnects: %s)", async (recover) => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  {
    await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: person().ui });
    await host.start({ servers: ["docs"] });
  }
  await using host = await hostFor(folder, servers.guarded.url, {}, { recover });
  expect(await host.call("docs", "echo", { text: "hi" })).toMatchObject({ isError: false });
  servers.authorization.revokeGrants();
  const refused = { code: "auth_required", next: "fairlead mcp auth docs" };
  await expect(host.call("docs", "echo", { text: "hi" })).rejects.toMatchObject(refused);
  const needsSignIn = {
    name: "docs",
    status: "needs_auth",
    reason: "auth_required",
    message: '"docs" requires sign-in (HTTP 401)',
    next: "fairlead mcp auth docs",
  };
  expect(stateOf(host)).toEqual(needsSignIn);
  await expect(host.call("docs", "echo", { text: "hi" })).rejects.toMatchObject(refused);
  expect(stateOf(host)).toEqual(needsSignIn);
  // The user signs in in another process: the next call connects again.
  {
    await using other = await hostFor(folder, servers.guarded.url, {}, { signIn: person().ui });
    await other.start({ servers: ["docs"] });
  }
  expect(await host.call("docs", "echo", { text: "again" })).toMatchObject({ isError: false });
  expect(stateOf(host)).toMatchObject({ status: "connected" });
});

test("a call that lacks a scope does not end the connection", async () => {
  await using servers = await both({}, { scopes: ["read"], toolScopes: { echo: ["write"] } });
  await using folder = await temporaryFolder();
  {
    await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: person().ui });
    await host.start({ servers: ["docs"] });
  }
  await using host = await hostFor(folder, servers.guarded.url);
  await expect(host.call("docs", "echo", { text: "hi" })).rejects.toMatchObject({ code: "auth_required" });
  expect(stateOf(host)).toMatchObject({ status: "connected" });
});
