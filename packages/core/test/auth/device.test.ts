import { status, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { SignInMessage } from "../../src/auth/sign-in.ts";
import { manualClock } from "../manual-clock.ts";
import { both } from "./both-servers.ts";
import { person } from "./person.ts";
import { signingIn, storageIn } from "./signing-in.ts";

type Code = Extract<SignInMessage, { readonly kind: "device" }>;

/** Somebody with a telephone in hand: does this when the code is shown, while time passes. */
function typist(then: (code: Code) => void, clock = manualClock()) {
  const someone = person({
    ways: {
      device: true,
      show(message) {
        if (message.kind !== "device") return;
        then(message);
        void passing();
      },
    },
  });
  let isOver = false;
  /** What is asked over the network takes real time. */
  async function passing(): Promise<void> {
    while (!isOver) {
      await clock.pass(1_000);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
  const end = (): void => {
    isOver = true;
  };
  return { ...someone, clock, end };
}

test("a code is shown, and typed on another device", async () => {
  await using servers = await both({}, { scopes: ["read"] });
  await using folder = await temporaryFolder();
  const codes: Code[] = [];
  const someone = typist((code) => {
    codes.push(code);
    servers.authorization.decideDevice(code.userCode, "approve");
  });
  const credentials = await signingIn(servers.guarded.url, someone, folder, { clock: someone.clock });
  someone.end();
  expect(codes).toMatchObject([
    { serverName: "docs", verificationUri: `${servers.authorization.issuer}/activate`, minutes: expect.any(Number) },
  ]);
  expect(someone.opened).toEqual([]);
  expect(await storageIn(folder).getCredentials(servers.guarded.url)).toEqual(credentials);
  const [asked] = servers.authorization.callsTo("device");
  expect(Object.fromEntries(asked?.params ?? [])).toEqual({
    client_id: credentials.client.clientId,
    resource: servers.guarded.url,
    scope: "read",
  });
});

test("whoever is told to slow down does, and goes on", async () => {
  await using servers = await both({
    deviceInterval: 1,
    deviceErrors: ["authorization_pending", "slow_down", "slow_down"],
  });
  await using folder = await temporaryFolder();
  const clock = manualClock();
  const askedAt: number[] = [];
  for (let times = 0; times < 4; times += 1)
    servers.authorization.interrupt("token", (_request, response, usual) => {
      askedAt.push(clock.now());
      void usual().then(({ status: code, headers, body }) => response.writeHead(code, headers).end(body));
    });
  const someone = typist(({ userCode }) => servers.authorization.decideDevice(userCode, "approve"), clock);
  await signingIn(servers.guarded.url, someone, folder, { clock });
  someone.end();
  const pauses = askedAt.map((at, index) => at - (askedAt[index - 1] ?? 0));
  expect(pauses.length).toBe(4);
  // At least what was asked for: one second, and five more each time.
  for (const [index, least] of [1_000, 1_000, 6_000, 11_000].entries())
    expect(pauses[index]).toBeGreaterThanOrEqual(least);
});

test.each([
  ["deny", /refused it: access_denied/],
  ["expire", /refused it: expired_token/],
] as const)("%s", async (decision, message) => {
  await using servers = await both({ deviceInterval: 1 });
  await using folder = await temporaryFolder();
  const someone = typist(({ userCode }) => servers.authorization.decideDevice(userCode, decision));
  await expect(signingIn(servers.guarded.url, someone, folder, { clock: someone.clock })).rejects.toMatchObject({
    code: "auth_failed",
    message: expect.stringMatching(message),
  });
  someone.end();
});

test("an authorization server that is busy for a moment is asked again", async () => {
  await using servers = await both({ deviceInterval: 1 });
  await using folder = await temporaryFolder();
  servers.authorization.interrupt("token", status(503), 2);
  const someone = typist(({ userCode }) => servers.authorization.decideDevice(userCode, "approve"));
  await signingIn(servers.guarded.url, someone, folder, { clock: someone.clock });
  someone.end();
  expect(servers.authorization.callsTo("token").length).toBe(3);
});

test("who does not offer it says so, and what is offered", async () => {
  await using servers = await both({ hasDeviceFlow: false });
  await using folder = await temporaryFolder();
  await expect(
    signingIn(
      servers.guarded.url,
      typist(() => {}),
      folder,
    ),
  ).rejects.toMatchObject({
    message: expect.stringContaining("ended at the device code"),
  });
});

test("it can be called off while it waits", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const stop = new AbortController();
  const someone = person({
    ways: { device: true, show: (message) => message.kind === "device" && setImmediate(() => stop.abort()) },
  });
  await expect(signingIn(servers.guarded.url, someone, folder, { signal: stop.signal })).rejects.toMatchObject({
    code: "cancelled",
  });
  expect(servers.authorization.callsTo("token")).toEqual([]);
});
