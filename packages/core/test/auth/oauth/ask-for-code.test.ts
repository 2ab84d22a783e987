import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  type AuthorizationOptions,
  askForCode,
  checkChallengeMethods,
  codeIn,
  isState,
  randomWord,
} from "../../../src/auth/oauth/authorization.ts";
import type { SignInPlan } from "../../../src/auth/oauth/discovery.ts";
import { createFail } from "../../../src/auth/oauth/failure.ts";
import { HostError } from "../../../src/errors.ts";

const issuer = "https://login.example";
const fail = createFail("docs");
const metadata = { sendsIssuer: false, takesMetadataDocuments: false };
const plan: SignInPlan = {
  resource: "https://docs.example/mcp",
  issuer,
  isIssuerKnown: true,
  endpoints: { authorization: `${issuer}/authorize`, token: `${issuer}/token` },
  metadata,
  scopes: [],
  isLegacyFallback: false,
  isDpop: false,
  isGuess: false,
};

function told(attempt: () => unknown): unknown {
  try {
    return attempt();
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
  [{ metadata: { ...metadata, challengeMethods: ["plain", "S256"] } }, undefined],
  [{ metadata: { ...metadata, challengeMethods: ["plain"] } }, noPkce],
  [{ metadata: { ...metadata, challengeMethods: ["plain"] }, isLegacyFallback: true }, noPkce],
  [{ metadata }, noPkce],
  [{ metadata, isLegacyFallback: true }, undefined],
  [{ metadata: undefined }, undefined],
])("a server with %j supports PKCE, or is refused: %j", (more, expected) => {
  expect(told(() => checkChallengeMethods({ ...plan, ...more }, fail))).toEqual(expected);
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
    { plan: { ...plan, endpoints: { authorization: `${issuer}/authorize?tenant=1&state=old#top`, token: "" } } },
    { tenant: "1" },
  ],
])("the sign-in page is opened with %j as %j", (more, expected) => {
  const { url, verifier } = askForCode({ ...options, ...more });
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

test("an address that a browser must not open is refused", () => {
  const endpoints = { authorization: "http://login.example/authorize", token: "" };
  expect(told(() => askForCode({ ...options, plan: { ...plan, endpoints } }))).toEqual(
    failedAt("browser", "the authorization endpoint is not an address that a browser may open"),
  );
});

test("a random word has 256 bits, and two words differ", () => {
  const words = [randomWord(), randomWord()];
  expect(new Set(words).size).toBe(2);
  for (const word of words) expect(Buffer.from(word, "base64url")).toHaveLength(32);
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
const promised: Partial<SignInPlan> = { metadata: { ...metadata, sendsIssuer: true } };

test.each<[string, Partial<SignInPlan>, unknown]>([
  ["code=abc", {}, "abc"],
  ["code=abc", { metadata: undefined }, "abc"],
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
  ["code=abc&iss=https://other.example", { isIssuerKnown: false }, "abc"],
  [`code=abc&iss=${issuer}`, promised, "abc"],
  ["code=abc", promised, failedAt("browser", `the response has no "iss", although ${issuer} announces "iss"`, exactly)],
])("the response %j of a server with %j gives %j", (answer, more, expected) => {
  expect(told(() => codeIn(new URLSearchParams(answer), { ...plan, ...more }, fail))).toEqual(expected);
});
