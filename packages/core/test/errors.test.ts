import { expect, test } from "vitest";
import { exitCodeOf, HostError } from "../src/errors.ts";

test("an error carries its code, server, next step and cause", () => {
  const cause = new Error("ENOENT");
  const error = new HostError("command_not_found", "no such command", { serverName: "github", next: "check", cause });
  expect(error).toMatchObject({ code: "command_not_found", serverName: "github", next: "check", cause });
  expect(exitCodeOf(error.code)).toBe(4);
});

test("an error has the name of its class, and no other members than the given ones", () => {
  const error = new HostError("denied", "no");
  expect(`${error}`).toBe("HostError: no");
  expect([error.serverName, error.next, error.evidence, error.cause]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(Object.hasOwn(error, "cause")).toBe(false);
});
