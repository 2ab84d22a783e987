import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { both } from "../both-servers.ts";
import { asked, person } from "../person.ts";
import { signingIn, storageIn } from "../signing-in.ts";

describe("the answer must come from where the question went", () => {
  const yes = { authorization_response_iss_parameter_supported: true };
  const no = { authorization_response_iss_parameter_supported: undefined };
  const other = /comes from another authorization server/;
  test.each([
    ["promised and right", yes, "right", undefined],
    ["promised and missing", yes, "absent", /the response has no "iss"/],
    ["promised and wrong", yes, "wrong", other],
    ["promised and right but for a slash", yes, "with-slash", other],
    ["not promised and right", no, "right", undefined],
    ["not promised and missing", no, "absent", undefined],
    ["not promised and wrong", no, "wrong", other],
    ["not promised and right but for a slash", no, "with-slash", other],
  ] as const)("%s", async (_, metadata, iss, refusal) => {
    await using servers = await both({ metadata, iss });
    await using folder = await temporaryFolder();
    const attempt = signingIn(servers.guarded.url, person(), folder);
    if (refusal === undefined) await attempt;
    else await expect(attempt).rejects.toMatchObject({ code: "auth_failed", message: expect.stringMatching(refusal) });
    expect(servers.authorization.callsTo("token").length).toBe(refusal === undefined ? 1 : 0);
  });

  test("what a stranger says is not repeated", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    const someone = person({
      change(callback) {
        callback.searchParams.set("iss", "https://evil.example");
        callback.searchParams.set("error", "call-0800-evil");
      },
    });
    await expect(signingIn(servers.guarded.url, someone, folder)).rejects.toMatchObject({
      message: expect.not.stringContaining("evil"),
    });
  });
});

test("the question says who asks, for what, and how the answer will be proved", async () => {
  await using servers = await both({}, { scopes: ["read"] });
  await using folder = await temporaryFolder();
  const someone = person();
  const { client } = await signingIn(servers.guarded.url, someone, folder, {
    oauth: { audiences: ["one", "two"] },
  });
  const url = new URL(someone.opened[0] ?? "");
  expect(`${url.origin}${url.pathname}`).toBe(`${servers.authorization.issuer}/authorize`);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: "S256",
    resource: servers.guarded.url,
    scope: "read",
    audience: "one two",
  });
  const [{ params } = { params: new URLSearchParams() }] = servers.authorization.callsTo("token");
  expect(Object.fromEntries(params)).toEqual({
    grant_type: "authorization_code",
    code: expect.any(String),
    code_verifier: expect.stringMatching(/^[\w-]{43}$/),
    redirect_uri: url.searchParams.get("redirect_uri"),
    client_id: client.clientId,
    resource: servers.guarded.url,
    audience: "one two",
  });
});

test("a person who says no there is told so, with the authorization server's words", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  await expect(signingIn(servers.guarded.url, person({ says: "deny" }), folder)).rejects.toMatchObject({
    code: "auth_failed",
    message: expect.stringMatching(/failed at the browser step: .* refused the sign-in \(access_denied/),
    next: "fairlead mcp auth docs",
  });
  expect(await storageIn(folder).listServers()).toEqual([]);
});

test("an answer for another sign-in is not taken, and the right one that follows is", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const pages: number[] = [];
  const someone = person({
    async change(callback) {
      const forged = new URL(callback);
      forged.searchParams.set("state", "forged");
      pages.push((await fetch(forged)).status);
    },
  });
  await signingIn(servers.guarded.url, someone, folder);
  expect(pages).toEqual([400]);
});

describe("scopes", () => {
  const wish = (text: string | undefined): string => `Bearer${text === undefined ? "" : ` scope="${text}"`}`;
  test.each([
    ["of the refusal come first", wish("read"), ["read", "write"], {}, "read"],
    ["of the metadata come next", wish(undefined), ["read", "write"], {}, "read write"],
    ["are left out when neither settings nor server name any", wish(undefined), [], {}, null],
    ["of the settings are taken as they stand", wish("read"), ["read"], { scopes: ["write"] }, "write"],
  ] as const)("%s", async (_, challenge, scopes, oauth, expected) => {
    await using servers = await both({}, { challenge, scopes });
    await using folder = await temporaryFolder();
    const someone = person();
    await signingIn(servers.guarded.url, someone, folder, { oauth });
    expect(asked(someone, "scope")).toBe(expected);
  });

  test.each([
    ["is added where it is offered", ["read", "offline_access"], "read", "read offline_access"],
    ["is taken out where it is not", ["read"], "read offline_access", "read"],
    ["is not asked for alone", ["read", "offline_access"], "", null],
  ])("offline_access %s", async (_, scopes, challenged, expected) => {
    await using servers = await both({ scopes }, { challenge: wish(challenged === "" ? undefined : challenged) });
    await using folder = await temporaryFolder();
    const someone = person();
    await signingIn(servers.guarded.url, someone, folder);
    expect(asked(someone, "scope")).toBe(expected);
  });
});
