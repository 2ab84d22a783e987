import { WireError } from "@fairlead/wire";
import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { Health } from "../../src/server/health.ts";
import { manualClock } from "../support/manual-clock.ts";
import { type Script, scriptedSession } from "./scripted-session.ts";

const late = new HostError("call_timeout", "too late");
const alive = { ping: {} };

function testHealth(script: Script) {
  const clock = manualClock();
  const session = scriptedSession(script);
  const silences: HostError[] = [];
  const health = new Health(session, "s", clock, (error) => silences.push(error));
  return { clock, session, silences, health };
}

test("two timeouts in a row raise the question, not two with an answer between them", async () => {
  const { session, health } = testHealth({ answers: alive });
  health.failed(late);
  health.answered();
  health.failed(late);
  expect(session.asked).toEqual([]);
  health.failed(late);
  expect(session.asked).toEqual(["ping"]);
});

test("a server that answers is let be, and the count begins anew", async () => {
  const { session, silences, health } = testHealth({ answers: alive });
  health.failed(late);
  health.failed(late);
  await health.check();
  health.failed(late);
  expect(session.asked).toEqual(["ping"]);
  expect(silences).toEqual([]);
});

test("a call that broke off raises it at once; a refusal or a cancellation does not", () => {
  const { session, health } = testHealth({ answers: alive });
  for (const code of ["tool_error", "cancelled", "http_status", "arguments_invalid"] as const)
    health.failed(new HostError(code, "no"));
  expect(session.asked).toEqual([]);
  health.failed(new HostError("lost", "cut"));
  expect(session.asked).toEqual(["ping"]);
});

test("each era has its own question", async () => {
  const { session, health } = testHealth({
    verdict: { era: "modern", transport: "http" },
    answers: { "server/discover": {} },
  });
  await health.check();
  expect(session.asked).toEqual(["server/discover"]);
});

test("no answer within five seconds is an end; who asks meanwhile shares the question", async () => {
  const { clock, session, silences, health } = testHealth({ answers: {} });
  const checks = Promise.all([health.check(), health.check()]);
  await clock.pass(4999);
  expect(silences).toEqual([]);
  await clock.pass(1);
  await checks;
  expect(session.asked).toEqual(["ping"]);
  expect(silences).toMatchObject([
    { code: "unreachable", message: '"s" does not respond: no response to ping within 5 s', serverName: "s" },
  ]);
});

test.each<[string, WireError, boolean]>([
  ["it does not know the question", new WireError("rpc", "no ping here", { rpc: { code: -32601 } }), false],
  ["no program listens", new WireError("unreachable", "refused"), true],
  ["the answer was cut", new WireError("stream_lost", "cut"), true],
  ["a gateway answers for it", new WireError("http_status", "bad gateway", { httpStatus: 502 }), true],
  ["it wants no such request", new WireError("http_status", "no", { httpStatus: 400 }), false],
])("%s", async (_, answer, isSilent) => {
  const { silences, health } = testHealth({ answers: { ping: answer } });
  await health.check();
  expect(silences.length > 0).toBe(isSilent);
});
