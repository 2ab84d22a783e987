import { realServer, stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { Key } from "../../src/tui/input/keys.ts";
import { machine, userFile } from "../support/machine.ts";
import { openScene, type Scene } from "../support/tui/session-scene.ts";

function offered({ state }: Scene): readonly string[] {
  return state().completion?.suggestions.map(({ value }) => value) ?? [];
}

test("commands, their words, tools, parameters and values are completed at once", async () => {
  await using here = await machine();
  await using app = await openScene(here);
  await app.shown(/^Fairlead/);
  const after = (text: string): readonly string[] => {
    app.session.press({ name: "text", text: "u", ctrl: true });
    app.type(text);
    return offered(app);
  };
  expect(after("/qui")[0]).toBe("/quit");
  expect(after("/mcp rel")[0]).toBe("reload");
  expect(after("/mcp stop ")).toEqual(["demo"]);
  expect(after("/mcp auth demo ")).toEqual(["--device"]);
  expect(after("demo.gr")).toEqual(["demo.greet"]);
  expect(after("demo.greet ")).toEqual(["name=", "language=", "loud="]);
  expect(after("demo.greet name=x loud=")).toEqual(["loud=true", "loud=false"]);
  expect(after("demo.greet language=d")[0]).toBe("language=de");
});

test("Tab takes what is offered, and the arrows go through what was typed before where no list is open", async () => {
  await using here = await machine();
  await using app = await openScene(here);
  await app.shown(/^Fairlead/);
  app.type("demo.gr");
  app.session.press({ name: "tab" });
  expect(app.state().editor.text).toBe("demo.greet ");
  app.type("name=Ada");
  app.session.press({ name: "enter" });
  await app.shown(/^greet ok/);
  app.session.press({ name: "up" });
  expect([app.state().editor.text, app.state().completion]).toEqual(["demo.greet name=Ada", undefined]);
});

test("Enter completes a command that is only begun, and then runs it", async () => {
  await using here = await machine();
  await using app = await openScene(here);
  await app.shown(/^Fairlead/);
  app.type("/hel");
  app.session.press({ name: "enter" });
  expect(app.state().editor.text).toBe("/help ");
  app.session.press({ name: "enter" });
  await app.shown(/^\/help/);
});

test("the keys of the list move in it, close it or open it again for the new text", async () => {
  await using here = await machine();
  await using app = await openScene(here);
  await app.shown(/^Fairlead/);
  const press = (key: Key): readonly unknown[] => {
    app.session.press(key);
    const { completion, editor } = app.state();
    return [editor.text, completion?.selected];
  };
  app.type("/mcp st");
  expect(offered(app).slice(0, 2)).toEqual(["stop", "start"]);
  expect(press({ name: "down" })).toEqual(["/mcp st", 1]);
  expect(press({ name: "up" })).toEqual(["/mcp st", 0]);
  expect(press({ name: "escape" })).toEqual(["/mcp st", undefined]);
  expect(press({ name: "text", text: "o" })).toEqual(["/mcp sto", 0]);
  expect(offered(app)).toEqual(["stop"]);
  expect(press({ name: "backspace" })).toEqual(["/mcp st", 0]);
  expect(offered(app).slice(0, 2)).toEqual(["stop", "start"]);
  expect(press({ name: "left" })).toEqual(["/mcp st", undefined]);
  expect(press({ name: "delete" })).toEqual(["/mcp s", 0]);
  expect(press({ name: "text", text: "e", ctrl: true })).toEqual(["/mcp s", undefined]);
  expect(press({ name: "tab" })).toEqual(["/mcp s", 0]);
  expect(press({ name: "text", text: "b", meta: true })).toEqual(["/mcp s", undefined]);
  expect(press({ name: "home" })).toEqual(["/mcp s", undefined]);
});

test("a suggestion that is taken is followed by the next ones", async () => {
  await using here = await machine();
  await using app = await openScene(here);
  await app.shown(/^Fairlead/);
  app.type("/call demo.gr");
  expect(offered(app)).toEqual(["demo.greet"]);
  app.session.press({ name: "tab" });
  expect([app.state().editor.text, offered(app)]).toEqual(["/call demo.greet ", ["name=", "language=", "loud="]]);
  app.session.press({ name: "text", text: "u", ctrl: true });
  app.type("/form demo.gr");
  expect(offered(app)).toEqual(["demo.greet"]);
  app.session.press({ name: "text", text: "u", ctrl: true });
  app.type("/nosuch x");
  expect(offered(app)).toEqual([]);
  app.session.press({ name: "text", text: "u", ctrl: true });
  app.type("nosuch.tool x");
  expect(offered(app)).toEqual([]);
});

test("a server is asked for the values of a prompt's argument in the background", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { every: realServer("everything") } } });
  await using app = await openScene(here);
  await app.ready("every");
  app.type("/completable-prompt department=E");
  await app.until(() => offered(app).length > 0);
  expect(offered(app)).toEqual(["department=Engineering"]);
});

test("the user can go on typing while a server does not respond", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { mute: stdioServer("silent") } } });
  await using app = await openScene(here);
  await app.shown(/^Fairlead/);
  app.type("/mcp logs m");
  expect(offered(app)).toEqual(["mute", "demo"]);
});
