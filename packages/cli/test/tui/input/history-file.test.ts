import { expect, test } from "vitest";
import { machine } from "../../support/machine.ts";
import { openScene } from "../../support/tui/session-scene.ts";

test("what was typed in an earlier run comes back with the arrow key", async () => {
  await using here = await machine();
  {
    await using first = await openScene(here);
    await first.shown(/^Fairlead/);
    first.enter("remember me");
    await first.shown(/not of the form server\.tool/);
  }
  await using second = await openScene(here);
  await second.until(({ history }) => history.entries.length > 0);
  second.session.press({ name: "up" });
  expect(second.state().editor.text).toBe("remember me");
});
