import { expect, test } from "vitest";
import type { Key } from "../../src/tui/input/keys.ts";
import { machine } from "../support/machine.ts";
import { openScene } from "../support/tui/session-scene.ts";

test("/mcp opens the panel, whose tabs are loaded when they are opened, and Escape leaves it", async () => {
  await using here = await machine();
  await using app = await openScene(here);
  await app.ready("demo");
  const press = (key: Key): void => app.session.press(key);
  const loaded = async (): Promise<readonly unknown[]> => {
    const { panel } = await app.until((state) => state.panel?.open?.text !== undefined);
    return [panel?.open?.server, panel?.open?.tab, panel?.open?.scroll, panel?.open?.text];
  };
  app.enter("/mcp");
  await app.until(({ panel }) => panel !== undefined);
  expect(app.state().panel).toEqual({ signIns: new Map() });
  press({ name: "enter" });
  expect(await loaded()).toEqual([
    "demo",
    "tools",
    0,
    expect.stringMatching(/^demo: 6 tools\n\n {2}greet\(name: string/),
  ]);
  press({ name: "right" });
  expect(await loaded()).toEqual(["demo", "prompts", 0, expect.any(String)]);
  press({ name: "right" });
  expect(await loaded()).toEqual(["demo", "resources", 0, expect.any(String)]);
  press({ name: "right" });
  expect(await loaded()).toEqual(["demo", "log", 0, ""]);
  press({ name: "right" });
  expect(await loaded()).toEqual(["demo", "calls", 0, "no calls yet"]);
  press({ name: "escape" });
  expect(app.state().panel).toEqual({ signIns: new Map(), server: "demo" });
  press({ name: "escape" });
  expect(app.state().panel).toBeUndefined();
  app.type("a");
  expect(app.state().editor.text).toBe("a");
});
