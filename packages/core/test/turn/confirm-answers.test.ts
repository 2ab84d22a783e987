import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { HostOptions } from "../../src/host.ts";
import { type ConfirmationAnswer, ToolConfirmationOutcome } from "../../src/policy/confirmation.ts";
import { createLedger, ledgerFolder } from "../../src/policy/ledger/ledger.ts";
import { calls, collect, desk, outcomes, plays, responses, says } from "../support/turn-desk.ts";

const { ProceedOnce } = ToolConfirmationOutcome;

/** A model calls `echo`; the user answers each confirmation in order. Keeps the arguments that the user was shown. */
async function scene(answers: readonly ConfirmationAnswer[], host: HostOptions = {}) {
  const shown: { readonly args: unknown; readonly canEdit: boolean | undefined }[] = [];
  const confirm: HostOptions["confirm"] = async ({ args, canEdit }) => {
    shown.push({ args, canEdit });
    return answers[shown.length - 1] ?? expect.fail("nothing more is asked");
  };
  const at = await desk({
    servers: (path) => ({ s: stdioServer("counted", path("notes")) }),
    host: { ...host, confirm },
  });
  const model = plays(calls("echo", { text: "first" }), says("I see."));
  const events = await collect(at.host.conversation({ model }).send("go"));
  await at.host.flushHistory();
  const folder = ledgerFolder(at.path("home/.fairlead"));
  const ledger = createLedger({ folder, keepArguments: () => false, now: Date.now, clock: systemClock });
  const rows = await ledger.read({ matches: () => true, limit: 10 });
  await ledger.close();
  return { at, shown, outcomes: outcomes(events), told: model.requests[1] && responses(model.requests[1]), rows };
}

test("the reason of a no is told to the model as the user's words", async () => {
  const { at, outcomes: ended, told } = await scene([{ because: "say goodbye instead" }]);
  await using _ = at;
  expect(ended).toEqual([["echo", "denied", "denied"]]);
  expect(told).toEqual([
    ["echo", { error: "The call did not run: the user declined it and says: say goodbye instead" }],
  ]);
  expect(await at.lines("notes")).not.toContainEqual(expect.stringContaining("echo"));
});

test("changed arguments are a new request: it is decided again, and the model is told what ran", async () => {
  const { at, shown, outcomes: ended, told, rows } = await scene([{ args: { text: "second" } }, ProceedOnce]);
  await using _ = at;
  expect(shown).toEqual([
    { args: { text: "first" }, canEdit: true },
    { args: { text: "second" }, canEdit: true },
  ]);
  expect(ended).toEqual([["echo", "ok"]]);
  const output = expect.stringMatching(
    /^The user changed the arguments of this call to \{"text":"second"\}\.\n[\s\S]*\nsecond\n/,
  );
  expect(told).toEqual([["echo", { output }]]);
  expect(rows.map(({ decision, outcome, refusal, answer }) => [decision, outcome, refusal ?? answer])).toEqual([
    ["ask_user", "denied", "edited"],
    ["ask_user", "ok", "asked"],
  ]);
});

test("a rule that denies the changed arguments refuses them without a further question", async () => {
  const at = await desk({
    servers: (path) => ({ s: stdioServer("counted", path("notes")) }),
    host: { confirm: async () => ({ args: { text: "forbidden" } }) },
  });
  await using _ = at;
  await at.write(
    "home/.gemini/policies/rules.toml",
    '[[rule]]\nmcpName = "s"\ntoolName = "echo"\nargsPattern = "forbidden"\ndecision = "deny"\npriority = 900\n',
  );
  const model = plays(calls("echo", { text: "first" }), says("I see."));
  const events = await collect(at.host.conversation({ model }).send("go"));
  expect(outcomes(events)).toEqual([["echo", "denied", "denied"]]);
  expect(await at.lines("notes")).not.toContainEqual(expect.stringContaining("echo"));
});

test("host.callAsModel takes changed arguments too", async () => {
  let asked = 0;
  const at = await desk({
    servers: (path) => ({ s: stdioServer("counted", path("notes")) }),
    host: {
      confirm: async () => {
        asked += 1;
        return asked === 1 ? { args: { text: "second" } } : ProceedOnce;
      },
    },
  });
  await using _ = at;
  await at.host.start();
  expect(await at.host.callAsModel("echo", { text: "first" })).toMatchObject({ returnDisplay: "second" });
});
