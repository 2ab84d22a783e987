import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../src/errors.ts";
import { mayRepeat } from "../../src/execute/repeat.ts";

interface Case {
  readonly code: ErrorCode;
  readonly neverLeft?: boolean;
  readonly annotations?: { readonly [hint: string]: unknown };
  readonly trusted?: boolean;
  readonly pause?: number;
  readonly may: boolean;
}

const readOnly = { readOnlyHint: true };
const idempotent = { idempotentHint: true };

const cases: readonly Case[] = [
  // It never left: whatever it would have done has not been done.
  { code: "unreachable", neverLeft: true, may: true },
  { code: "server_exited", neverLeft: true, may: true },
  { code: "unreachable", neverLeft: true, annotations: { destructiveHint: true }, may: true },
  // It never left, and would not get any further.
  { code: "cancelled", neverLeft: true, may: false },
  { code: "too_large", neverLeft: true, may: false },
  { code: "protocol", neverLeft: true, may: false },
  { code: "proxy", neverLeft: true, may: false },
  { code: "auth_required", neverLeft: true, may: false },
  { code: "denied", neverLeft: true, may: false },
  // A busy server proves nothing: only what is harmless, and if there is time to wait.
  { code: "lost", pause: 0, may: false },
  { code: "lost", annotations: readOnly, pause: 0, may: false },
  { code: "lost", trusted: true, pause: 0, may: false },
  { code: "lost", annotations: readOnly, trusted: true, pause: 999, may: true },
  { code: "lost", annotations: readOnly, trusted: true, pause: 1000, may: false },
  { code: "http_status", annotations: readOnly, trusted: true, pause: 0, may: false },
  // It may have run: only what is harmless, by the word of a server that is believed.
  { code: "lost", may: false },
  { code: "lost", trusted: true, may: false },
  { code: "lost", annotations: readOnly, may: false },
  { code: "lost", annotations: idempotent, may: false },
  { code: "lost", annotations: readOnly, trusted: true, may: true },
  { code: "lost", annotations: idempotent, trusted: true, may: true },
  { code: "lost", annotations: { readOnlyHint: "true", idempotentHint: 1 }, trusted: true, may: false },
  { code: "lost", annotations: { destructiveHint: false }, trusted: true, may: false },
  // It was answered, or there was time enough.
  { code: "tool_error", annotations: readOnly, trusted: true, may: false },
  { code: "call_timeout", annotations: readOnly, trusted: true, may: false },
  { code: "cancelled", annotations: readOnly, trusted: true, may: false },
  { code: "unreachable", annotations: readOnly, trusted: true, may: false },
];

describe("a failed call", () => {
  test.each(cases)("$code, never left: $neverLeft, $annotations, trusted: $trusted, pause: $pause → $may", (given) => {
    const { code, neverLeft = false, annotations, trusted: trustAnnotations = false, pause, may } = given;
    expect(mayRepeat({ code, neverLeft, annotations, trustAnnotations, pause, timeLeft: 1000 })).toBe(may);
  });
});
