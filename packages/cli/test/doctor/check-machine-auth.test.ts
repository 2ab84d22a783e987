import { HostError } from "@fairlead/core/errors";
import { expect, test } from "vitest";
import { checkMachineAuth } from "../../src/doctor/check-machine-auth.ts";

const now = Date.parse("2026-01-31T08:00:00Z");
const key = { server: "s", source: "~/key.pem", file: "/home/ann/a key.pem", othersCanRead: false };
const jwt = { server: "s", source: "the variable TOKEN", othersCanRead: false };

test("a usable key and a JWT without expiry are ok", () => {
  expect(checkMachineAuth([{ ...key, algorithm: "ES256" }, jwt], now)).toEqual([
    { severity: "ok", server: "s", message: "~/key.pem is usable (ES256)" },
    { severity: "ok", server: "s", message: "the variable TOKEN is usable (JWT)" },
  ]);
});

test("a key that cannot be used is a problem with its cause and next step", () => {
  const failure = new HostError("auth_failed", "the key is encrypted", { next: "decrypt it" });
  expect(checkMachineAuth([{ ...key, failure, expiresAt: now + 1e9 }], now)).toEqual([
    { severity: "problem", server: "s", code: "auth_failed", message: "the key is encrypted", next: "decrypt it" },
  ]);
});

test("a key that other users can read is a warning with the command that protects it", () => {
  expect(checkMachineAuth([{ ...key, othersCanRead: true }], now)).toEqual([
    {
      severity: "warning",
      server: "s",
      message: 'other users can read /home/ann/a key.pem, the private key of "s"',
      next: "chmod 600 '/home/ann/a key.pem'",
    },
    expect.objectContaining({ severity: "ok" }),
  ]);
  expect(checkMachineAuth([{ ...jwt, othersCanRead: true }], now)).toHaveLength(1);
});

test.each([
  [-1, "problem", 'the JWT of "s" in the variable TOKEN expired at 2026-01-31T07:59:59.999Z'],
  [0, "problem", 'the JWT of "s" in the variable TOKEN expired at 2026-01-31T08:00:00.000Z'],
  [59_999, "warning", 'the JWT of "s" in the variable TOKEN expires at 2026-01-31T08:00:59.999Z'],
  [60_000, "ok", "the variable TOKEN is usable until 2026-01-31T08:01:00.000Z"],
])("a JWT that expires in %d ms is: %s", (left, severity, message) => {
  expect(checkMachineAuth([{ ...jwt, expiresAt: now + left }], now)).toEqual([
    expect.objectContaining({ severity, message, server: "s" }),
  ]);
});
