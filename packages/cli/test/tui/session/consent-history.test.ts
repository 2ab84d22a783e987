import { expect, test } from "vitest";
import { machine } from "../../support/machine.ts";
import { openScene } from "../../support/tui/session-scene.ts";

test("the history says that a call was typed, or that the user was asked and answered", async () => {
  await using here = await machine();
  {
    await using scene = await openScene(here);
    scene.enter("demo.greet name=Ada");
    await scene.shown(/Hello, Ada/);
    await here.run("policy", "ask", "demo.greet");
    for (const [name, outcome, said] of [
      ["Bea", "once", /Hello, Bea/],
      ["Cem", "no", /^greet denied/],
    ] as const) {
      scene.enter(`demo.greet name=${name}`);
      const { key } = await scene.asked("confirmation");
      scene.session.answer(key, { kind: "confirmation", value: outcome });
      await scene.shown(said);
      await scene.until(({ turn }) => turn.kind === "idle");
    }
  }
  const { entries } = JSON.parse((await here.run("history", "--json")).stdout) as {
    entries: readonly { readonly answer?: string; readonly refusal?: string }[];
  };
  expect(entries.map(({ answer, refusal }) => answer ?? refusal)).toEqual(["typed", "asked", "user"]);
  expect((await here.run("history")).stdout.match(/; you said \w+/gm)).toEqual(["; you said yes", "; you said no"]);
});
