import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  type AuthorizationOptions,
  askForCode,
  checkChallengeMethods,
  codeIn,
  isState,
} from "../../../src/auth/oauth/authorization.ts";
import type { SignInPlan } from "../../../src/auth/oauth/discovery.ts";
import { createFail } from "../../../src/auth/oauth/failure.ts";
import { HostError } from "../../../src/errors.ts";

const issuer = "https://login.example";
const fail = createFail("docs");
const server = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
const plan: SignInPlan = {
  resource: "https://docs.example/mcp",
  server,
  isIssuerKnown: true,
  scopes: [],
  mustListPkce: true,
  isDpop: false,
  isGuess: false,
};

async function told(attempt: () => unknown): Promise<unknown> {
  try {
    return await attempt();
  } catch (error) {
    return error instanceof HostError ? [error.code, error.message, error.next] : error;
  }
}

const failedAt = (step: string, why: string, next = "fairlead mcp auth docs") => [
  "auth_failed",
  `sign-in to "docs" failed at the ${step} step: ${why}`,
  next,
];
const noPkce = failedAt(
  "authorization server metadata",
  `${issuer} does not support PKCE with S256, so an attacker could use a stolen code`,
  `Ask the operator of ${issuer} to list S256 in code_challenge_methods_supported.`,
);

test.each<[Partial<SignInPlan>, unknown]>([
  [{ server: { ...server, code_challenge_methods_supported: ["plain", "S256"] } }, undefined],
  [{ server: { ...server, code_challenge_methods_supported: ["plain"] } }, noPkce],
  [{ server: { ...server, code_challenge_methods_supported: ["plain"] }, mustListPkce: false }, noPkce],
  [{}, noPkce],
  [{ mustListPkce: false }, undefined],
])("a server with %j supports PKCE, or is refused: %j", async (more, expected) => {
  expect(await told(() => checkChallengeMethods({ ...plan, ...more }, fail))).toEqual(expected);
});

const options: AuthorizationOptions = {
  plan,
  client: { clientId: "c" },
  redirectUri: "http://127.0.0.1:7/cb",
  state: "st",
  scopes: [],
  audiences: [],
  fail,
};

test.each<[Partial<AuthorizationOptions>, object]>([
  [{}, {}],
  [{ scopes: ["a", "b"] }, { scope: "a b" }],
  [{ scopes: ["a", "offline_access"] }, { scope: "a offline_access", prompt: "consent" }],
  [{ audiences: ["x", "y"] }, { audience: "x y" }],
  [
    {
      plan: {
        ...plan,
        server: { ...server, authorization_endpoint: `${issuer}/authorize?tenant=1&state=old#top` },
      },
    },
    { tenant: "1" },
  ],
])("the sign-in page is opened with %j as %j", async (more, expected) => {
  const { url, verifier } = await askForCode({ ...options, ...more });
  const opened = new URL(url);
  expect([opened.origin, opened.pathname, opened.hash]).toEqual([issuer, "/authorize", ""]);
  expect(Object.fromEntries(opened.searchParams)).toEqual({
    response_type: "code",
    client_id: "c",
    redirect_uri: "http://127.0.0.1:7/cb",
    state: "st",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: "https://docs.example/mcp",
    ...expected,
  });
});

test("an address that a browser must not open is refused", async () => {
  const plain = { ...server, authorization_endpoint: "http://login.example/authorize" };
  expect(await told(() => askForCode({ ...options, plan: { ...plan, server: plain } }))).toEqual(
    failedAt("browser", "the authorization endpoint is not an address that a browser may open"),
  );
});

test("a verifier has 256 random bits", async () => {
  const verifiers = [(await askForCode(options)).verifier, (await askForCode(options)).verifier];
  expect(new Set(verifiers).size).toBe(2);
  for (const verifier of verifiers) expect(Buffer.from(verifier, "base64url")).toHaveLength(32);
});

test.each([
  ["st", true],
  ["sT", false],
  ["", false],
  [null, false],
])("%j is the expected state: %s", (given, isExpected) => {
  expect(isState(given, "st")).toBe(isExpected);
});

const noCode = failedAt("browser", `${issuer} sent no authorization code`);
const refused = (words: string) => failedAt("browser", `${issuer} refused the sign-in (${words})`);
const exactly = `Ask the operator of ${issuer} to send exactly ${issuer} as "iss".`;
const elsewhere = failedAt(
  "browser",
  `the response comes from another authorization server than ${issuer}, so Fairlead ignored the response`,
  exactly,
);
const promised: Partial<SignInPlan> = {
  server: { ...server, authorization_response_iss_parameter_supported: true },
};
const invalid = (problem: string) => failedAt("browser", `the response of ${issuer} is invalid: ${problem}`);

test("a response for another sign-in gives no code", async () => {
  for (const state of ["state=other&", ""])
    expect(await told(() => codeIn(new URLSearchParams(`${state}code=abc`), "st", plan, fail))).toMatchObject({
      0: "auth_failed",
      1: expect.stringContaining("is invalid"),
    });
});

test.each<[string, Partial<SignInPlan>, unknown]>([
  ["code=abc", {}, "abc"],
  ["code=", {}, noCode],
  ["", {}, noCode],
  ["code=a&code=b", {}, noCode],
  ["error=denied", {}, refused("denied")],
  ["error=denied&code=abc", {}, refused("denied")],
  ["error=denied&error_description=", {}, refused("denied")],
  ["error=denied&error_description=not+you", {}, refused("denied: not you")],
  [`error=${"x".repeat(301)}`, {}, refused("x".repeat(300))],
  [`code=abc&iss=${issuer}`, {}, "abc"],
  [`code=abc&iss=${issuer}/`, {}, elsewhere],
  [`code=abc&iss=${issuer}&iss=${issuer}`, {}, elsewhere],
  ["code=abc&iss=", {}, elsewhere],
  ["code=abc&state=other", {}, invalid('"state" parameter must be provided only once')],
  ["error=denied&error=other", {}, invalid('"error" parameter must be provided only once')],
  ["code=abc&id_token=x", {}, invalid("implicit and hybrid flows are not supported")],
  ["code=abc&iss=https://other.example", { isIssuerKnown: false }, "abc"],
  [`code=abc&iss=${issuer}`, promised, "abc"],
  ["code=abc", promised, failedAt("browser", `the response has no "iss", although ${issuer} announces "iss"`, exactly)],
])("the response %j of a server with %j gives %j", async (answer, more, expected) => {
  const response = new URLSearchParams(`state=st&${answer}`);
  expect(await told(() => codeIn(response, "st", { ...plan, ...more }, fail))).toEqual(expected);
});
