import { status, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { SignInMessage } from "../../../src/auth/browser/sign-in-ui.ts";
import { instantClock } from "../../support/instant-clock.ts";
import { both } from "../both-servers.ts";
import { type Person, person } from "../person.ts";
import { signingIn, storageIn } from "../signing-in.ts";

type Code = Extract<SignInMessage, { readonly kind: "device" }>;

/** A user with a second device: does this when the code is shown. */
function typist(then: (code: Code) => void): Person {
  return person({ ui: { device: true, show: (message) => message.kind === "device" && then(message) } });
}

test("a code is shown, and typed on another device", async () => {
  await using servers = await both({}, { scopes: ["read"] });
  await using folder = await temporaryFolder();
  const codes: Code[] = [];
  const someone = typist((code) => {
    codes.push(code);
    servers.authorization.decideDevice(code.userCode, "approve");
  });
  const credentials = await signingIn(servers.guarded.url, someone, folder, { clock: instantClock() });
  expect(codes).toMatchObject([
    { serverName: "docs", verificationUri: `${servers.authorization.issuer}/activate`, minutes: expect.any(Number) },
  ]);
  expect(someone.opened).toEqual([]);
  expect(await storageIn(folder).getCredentials(servers.guarded.url)).toEqual(credentials);
  const [registered] = servers.authorization.requests.filter(({ path }) => path === "/register");
  expect(JSON.parse(registered?.body ?? "{}")).toMatchObject({
    grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
  });
  const [asked] = servers.authorization.callsTo("device");
  expect(Object.fromEntries(asked?.params ?? [])).toEqual({
    client_id: credentials.client.clientId,
    resource: servers.guarded.url,
    scope: "read",
  });
});

test("an address that has the code already is shown only if the server sends one", async () => {
  for (const isComplete of [true, false]) {
    await using servers = await both({}, { scopes: ["read"] });
    await using folder = await temporaryFolder();
    servers.authorization.interrupt("device", (_request, response, usual) => {
      void usual().then(({ status: code, headers, body }) => {
        const { verification_uri_complete: complete, ...answer } = JSON.parse(String(body)) as Record<string, unknown>;
        const sent = JSON.stringify({ ...answer, ...(isComplete && { verification_uri_complete: complete }) });
        response.writeHead(code, { ...headers, "content-length": Buffer.byteLength(sent) }).end(sent);
      });
    });
    const codes: Code[] = [];
    const someone = typist((code) => {
      codes.push(code);
      servers.authorization.decideDevice(code.userCode, "approve");
    });
    await signingIn(servers.guarded.url, someone, folder, { clock: instantClock() });
    const [code] = codes;
    const whole = `${servers.authorization.issuer}/activate?user_code=${code?.userCode}`;
    expect(code?.verificationUriComplete).toBe(isComplete ? whole : undefined);
  }
});

test("a client that is told to slow down does so, and goes on", async () => {
  await using servers = await both({
    deviceInterval: 1,
    deviceErrors: ["authorization_pending", "slow_down", "slow_down"],
  });
  await using folder = await temporaryFolder();
  const clock = instantClock();
  const askedAt: number[] = [];
  for (let times = 0; times < 4; times += 1)
    servers.authorization.interrupt("token", (_request, response, usual) => {
      askedAt.push(clock.now());
      void usual().then(({ status: code, headers, body }) => response.writeHead(code, headers).end(body));
    });
  const someone = typist(({ userCode }) => servers.authorization.decideDevice(userCode, "approve"));
  await signingIn(servers.guarded.url, someone, folder, { clock });
  const pauses = askedAt.map((at, index) => at - (askedAt[index - 1] ?? 0));
  // One second as the server wants it, and five more each time.
  expect(pauses).toEqual([1_000, 1_000, 6_000, 11_000]);
});

test.each([
  ["deny", /refused the sign-in: access_denied/],
  ["expire", /refused the sign-in: expired_token/],
] as const)("%s", async (decision, message) => {
  await using servers = await both({ deviceInterval: 1 });
  await using folder = await temporaryFolder();
  const someone = typist(({ userCode }) => servers.authorization.decideDevice(userCode, decision));
  await expect(signingIn(servers.guarded.url, someone, folder, { clock: instantClock() })).rejects.toMatchObject({
    code: "auth_failed",
    message: expect.stringMatching(message),
  });
});

test("Fairlead does not wait longer for the code to be typed than it is valid", async () => {
  await using servers = await both({ deviceInterval: 60 });
  await using folder = await temporaryFolder();
  const codes: Code[] = [];
  const someone = typist((code) => codes.push(code));
  const clock = instantClock();
  const attempt = signingIn(servers.guarded.url, someone, folder, { clock });
  await expect(attempt).rejects.toMatchObject({
    code: "auth_failed",
    message: expect.stringContaining("was not entered in time"),
  });
  const [code] = codes;
  await expect(attempt).rejects.toThrow(
    `failed at the device code step: the code ${code?.userCode} was not entered in time`,
  );
  expect(servers.authorization.callsTo("token")).toHaveLength(code?.minutes ?? 0);
  expect(clock.now()).toBe((code?.minutes ?? 0) * 60_000);
});

test.each<[string, object]>([
  ["no code for the device", { user_code: "AB", verification_uri: "https://issuer/activate" }],
  ["no code for the person", { device_code: "d", verification_uri: "https://issuer/activate" }],
  ["no place to type it", { device_code: "d", user_code: "AB" }],
  ["a place that no browser may open", { device_code: "d", user_code: "AB", verification_uri: "file:///activate" }],
  ["a code too long to type", { device_code: "d", user_code: "A".repeat(65), verification_uri: "https://issuer/a" }],
])("an answer with %s is none", async (_, answer) => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  servers.authorization.interrupt("device", (_request, response) => response.end(JSON.stringify(answer)));
  const someone = typist(() => {});
  await expect(signingIn(servers.guarded.url, someone, folder)).rejects.toMatchObject({
    message: expect.stringMatching(/failed at the device code step: .*\/device answered 200 without a device code/),
  });
});

test("a refusal is told by its name", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  servers.authorization.interrupt("device", (_request, response) =>
    response.writeHead(400).end('{"error":"unauthorized_client"}'),
  );
  await expect(
    signingIn(
      servers.guarded.url,
      typist(() => {}),
      folder,
    ),
  ).rejects.toMatchObject({ message: expect.stringMatching(/\/device answered 400 \(unauthorized_client\)/) });
});

test("an authorization server that is busy for a moment is asked again", async () => {
  await using servers = await both({ deviceInterval: 1 });
  await using folder = await temporaryFolder();
  servers.authorization.interrupt("token", status(503), 2);
  const someone = typist(({ userCode }) => servers.authorization.decideDevice(userCode, "approve"));
  await signingIn(servers.guarded.url, someone, folder, { clock: instantClock() });
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
    message: expect.stringContaining("failed at the device code step"),
  });
});

test("it can be called off while it waits", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const stop = new AbortController();
  const someone = person({
    ui: { device: true, show: (message) => message.kind === "device" && setImmediate(() => stop.abort()) },
  });
  await expect(signingIn(servers.guarded.url, someone, folder, { signal: stop.signal })).rejects.toMatchObject({
    code: "cancelled",
  });
  expect(servers.authorization.callsTo("token")).toEqual([]);
});
