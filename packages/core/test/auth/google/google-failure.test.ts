import { expect, test } from "vitest";
import { type GoogleFailureFacts, toGoogleError } from "../../../src/auth/google/google-failure.ts";
import { HostError } from "../../../src/errors.ts";

const facts: GoogleFailureFacts = { serverName: "docs", forbidden: "Ask for the role." };
const answered = (status: unknown, data?: unknown): Error =>
  Object.assign(new Error("secret words of the library"), { response: { status, data } });

function told(error: unknown, more: GoogleFailureFacts = facts) {
  const { code, message, next, serverName } = toGoogleError(error, more);
  expect(serverName).toBe("docs");
  return [code, message, next];
}

const check = "Check your Google credentials and the network, then try again.";
const failed = (reason: string, next = check) => [
  "auth_failed",
  `Google returned no token for "docs": ${reason}`,
  next,
];

test.each(["invalid_grant", "invalid_rapt", "rapt_required"])("after %s, the user signs in again", (error) => {
  const data = { error, error_description: "Bad Request" };
  expect(told(answered(400, data))).toEqual([
    "auth_required",
    `Google requires a new sign-in for "docs" (${error}: Bad Request)`,
    "gcloud auth application-default login",
  ]);
  expect(told(answered(400, data), { ...facts, isWorkload: true })).toEqual(failed(`${error}: Bad Request`));
});

test.each<[string, unknown, unknown[]]>([
  ["an OAuth error", answered(400, { error: "invalid_client" }), failed("invalid_client")],
  ["only a description", answered(400, { error_description: "No" }), failed("No")],
  [
    "an error of a Google API",
    answered(403, { error: { status: "PERMISSION_DENIED", message: "Not you" } }),
    failed("PERMISSION_DENIED: Not you", "Ask for the role."),
  ],
  ["only a status", answered(403, {}), failed("HTTP 403", "Ask for the role.")],
  ["no data", answered(500), failed("HTTP 500")],
  ["a text as data", answered(502, "secret"), failed("HTTP 502")],
  ["no status", answered("403", { error: 7 }), failed("HTTP 0")],
  ["a long description", answered(400, { error_description: "x".repeat(301) }), failed(`${"x".repeat(299)}…`)],
  ["no response", new Error("socket closed"), failed("socket closed")],
  ["a long message", new Error("y".repeat(301)), failed(`${"y".repeat(299)}…`)],
  [
    "an error of Fairlead's own fetch",
    new Error("library", { cause: new HostError("unreachable", "host is down") }),
    failed("host is down"),
  ],
  ["another cause", new Error("library", { cause: new Error("inner") }), failed("library")],
])("the user reads the reason of a failure with %s", (_, error, expected) => {
  expect(told(error)).toEqual(expected);
});

test("without a role to ask for, the advice after 403 is the usual one", () => {
  expect(told(answered(403, {}), { serverName: "docs" })).toEqual(failed("HTTP 403"));
});

test("an error of Fairlead stays as it is", () => {
  const own = new HostError("cancelled", "cancelled");
  expect(toGoogleError(own, facts)).toBe(own);
});
