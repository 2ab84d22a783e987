/** A person who takes longer to sign in than any timeout of the connection. */

import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { both } from "./both-servers.ts";
import { person } from "./person.ts";
import { hostFor, stateOf } from "./signed-in-host.ts";

test("neither connecting, nor a call, nor a read of the lists times out while a person signs in", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const clock = manualClock();
  const { ui } = person();
  let signIns = 0;
  const openBrowser = async (url: string): Promise<boolean> => {
    signIns += 1;
    await clock.pass(3_600_000);
    return (await ui.openBrowser?.(url)) ?? false;
  };
  const entry = { timeout: 1000 };
  const own = { connectTimeout: 1000 };
  await using host = await hostFor(
    folder,
    servers.guarded.url,
    { entry, own },
    { clock, signIn: { ...ui, openBrowser } },
  );
  await host.start({ servers: ["docs"] });
  expect([stateOf(host), signIns]).toMatchObject([{ status: "connected" }, 1]);

  servers.authorization.revokeGrants();
  servers.authorization.expireTokens();
  const { isError } = await host.call("docs", "echo", { text: "hi" }, { timeout: 1000 });
  expect([isError, signIns]).toEqual([false, 2]);

  servers.authorization.revokeGrants();
  servers.authorization.expireTokens();
  await host.restart(["docs"]);
  expect([stateOf(host), signIns]).toMatchObject([{ status: "connected" }, 3]);
});
