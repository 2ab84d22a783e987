import { expect, test } from "vitest";
import { createFail, explainFailure, signInCancelled } from "../../../src/auth/oauth/failure.ts";
import { HostError } from "../../../src/errors.ts";

test("a failed step is named, with its cause, and by default the user is told to sign in again", () => {
  const cause = new Error("no route");
  const failed = createFail("my docs")("token request", "it said no", { cause });
  expect(failed).toMatchObject({
    code: "auth_failed",
    message: 'sign-in to "my docs" failed at the token request step: it said no',
    serverName: "my docs",
    next: "fairlead mcp auth 'my docs'",
    cause,
  });
});

test("the user reads the advice of the step, otherwise the caller's; a failure without a cause has no `cause`", () => {
  const fail = createFail("docs", "fairlead mcp test docs");
  const [byCaller, byStep] = [fail("browser", "no"), fail("browser", "no", { next: "Wait." })];
  expect([byCaller.next, byStep.next]).toEqual(["fairlead mcp test docs", "Wait."]);
  expect(Object.hasOwn(byCaller, "cause")).toBe(false);
});

test("a cancellation and a result stay as they are; the caller explains every other error", async () => {
  const cancelled = signInCancelled("docs");
  expect(cancelled).toMatchObject({ code: "cancelled", message: 'sign-in to "docs" cancelled', serverName: "docs" });
  const explained = (error: Error) =>
    explainFailure(Promise.reject(error), (words, cause) => new HostError("auth_failed", `why: ${words}`, { cause }));
  await expect(explained(cancelled)).rejects.toBe(cancelled);
  for (const cause of [
    new HostError("unreachable", "no route"),
    Object.assign(new Error("stop"), { code: "cancelled" }),
  ])
    await expect(explained(cause)).rejects.toMatchObject({
      code: "auth_failed",
      message: `why: ${cause.message}`,
      cause,
    });
  expect(await explainFailure(Promise.resolve(1), () => cancelled)).toBe(1);
});
